// The tests are compiled by tsc to build/test-js and run as they are.
'use strict';

module.exports = {
  rootDir: __dirname,
  roots: ['<rootDir>/build/test-js'],
  testMatch: ['**/*.test.js'],
  // A file for one system is no test of another, not even a skipped one. Examples have dependencies of their own: `npm run test:example`.
  testPathIgnorePatterns: ['/node_modules/', '/test-js/examples/', process.platform === 'darwin' ? '_linux\\.test\\.js$' : '_macos\\.test\\.js$'],
  testEnvironment: 'node',
  transform: {},
  moduleNameMapper: {'^sandboxed-pty$': '<rootDir>/dist/index.js'},
  maxWorkers: 2,
  testTimeout: 30_000,
};
