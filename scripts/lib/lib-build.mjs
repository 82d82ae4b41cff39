// Compiles the TypeScript sources.
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {Failure, require, root, runNode} from './process.mjs';

export function tsc(args) {
  let compiler;
  try {
    compiler = require.resolve('typescript/bin/tsc');
  } catch {
    throw new Failure(`The npm package typescript is not installed in ${root}. Run: npm install --include=dev`);
  }
  runNode(compiler, args);
}

/** lib/ -> dist/ */
export const buildLib = () => tsc(['-p', join(root, 'tsconfig.json')]);

/** test/js -> build/test-js; the typings come from dist/, so build that first. */
export const buildJsTests = () => tsc(['-p', join(root, 'test', 'js', 'tsconfig.json')]);

export const hasBuiltLib = () => existsSync(join(root, 'dist', 'index.js'));
