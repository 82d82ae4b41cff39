// What the compiler does not say. Formatting is prettier's; tests and scripts may be formatted as they are.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** What runs in a browser. */
const pages = ['examples/web-terminal/public/*.mjs', 'examples/electron/page.js'];

const readonly = (...names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

const unusedVariables = {'no-unused-vars': ['error', {varsIgnorePattern: '^_', argsIgnorePattern: '^_', caughtErrors: 'none'}]};

export default tseslint.config(
  {ignores: ['build/', 'dist/', 'prebuilds/', 'third_party/', 'docs/', '**/node_modules/']},
  {
    files: ['lib/**/*.ts', 'lib/**/*.mts'],
    extends: [js.configs.recommended, ...tseslint.configs.recommendedTypeChecked],
    languageOptions: {parserOptions: {projectService: true, tsconfigRootDir: import.meta.dirname}},
    rules: {
      // The addon, node-pty and JSON files are loaded when they are needed.
      '@typescript-eslint/no-require-imports': 'off',
      // Objects of functions are written with method syntax, and taken apart.
      '@typescript-eslint/unbound-method': 'off',
      // node-pty's interface has listeners of any shape and puts any value into texts.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-function-type': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/restrict-plus-operands': 'off',
    },
  },
  {
    // Above all: a promise that nobody waits for is a test that cannot fail.
    files: ['test/js/**/*.ts'],
    extends: [js.configs.recommended, ...tseslint.configs.recommendedTypeChecked],
    languageOptions: {parserOptions: {project: 'test/js/tsconfig.json', tsconfigRootDir: import.meta.dirname}},
    rules: {
      // What comes out of other processes and of the addon is looked at as it is: the expectations say what it must be.
      ...Object.fromEntries(['assignment', 'argument', 'member-access', 'return', 'call'].map((what) => [`@typescript-eslint/no-unsafe-${what}`, 'off'])),
      'prefer-const': ['error', {ignoreReadBeforeAssign: true}],
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-require-imports': 'off',
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-implied-eval': 'off',
      '@typescript-eslint/restrict-plus-operands': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
  {
    files: ['scripts/**/*.mjs', 'bench/**/*.mjs', 'examples/**/*.mjs', 'examples/**/*.cjs'],
    ignores: pages,
    extends: [js.configs.recommended],
    languageOptions: {globals: readonly('process', 'console', 'Buffer', 'URL', 'URLSearchParams', 'performance', 'globalThis',
      'setTimeout', 'clearTimeout', 'setImmediate', 'setInterval', 'clearInterval', 'fetch', 'AbortSignal')},
    rules: unusedVariables,
  },
  {
    files: ['examples/**/*.cjs'],
    languageOptions: {sourceType: 'commonjs', globals: readonly('__dirname')},
  },
  {
    files: pages,
    extends: [js.configs.recommended],
    languageOptions: {globals: readonly('document', 'location', 'history', 'WebSocket', 'ResizeObserver', 'URLSearchParams',
      'TextEncoder', 'TextDecoder')},
    rules: unusedVariables,
  },
);
