// What the compiler does not say. Formatting is prettier's; tests and scripts may be as informal as they are.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {ignores: ['build/', 'dist/', 'node_modules/', 'prebuilds/', 'third_party/', 'docs/', 'examples/']},
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
    files: ['scripts/**/*.mjs', 'bench/**/*.mjs'],
    extends: [js.configs.recommended],
    languageOptions: {globals: {process: 'readonly', console: 'readonly', Buffer: 'readonly', URL: 'readonly',
      performance: 'readonly', setTimeout: 'readonly', clearTimeout: 'readonly', setImmediate: 'readonly', globalThis: 'readonly',
      setInterval: 'readonly', clearInterval: 'readonly'}},
    rules: {'no-unused-vars': ['error', {varsIgnorePattern: '^_', caughtErrors: 'none'}]},
  },
);
