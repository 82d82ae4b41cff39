// Compiles the TypeScript sources.
import {existsSync, readdirSync, rmSync} from 'node:fs';
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
export function buildJsTests() {
  const [sources, compiled] = [join(root, 'test', 'js'), join(root, 'build', 'test-js')];
  tsc(['-p', join(sources, 'tsconfig.json')]);
  // A test that was renamed or removed must not go on running.
  for (const path of readdirSync(compiled, {recursive: true})) {
    if (path.endsWith('.js') && !existsSync(join(sources, path.replace(/\.js$/, '.ts')))) rmSync(join(compiled, path));
  }
}

export const hasBuiltLib = () => existsSync(join(root, 'dist', 'index.js'));
