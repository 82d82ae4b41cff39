// Loads the built library for scripts that use it.
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {Failure, require, root} from './process.mjs';

/** The library as its users see it, or (for comparisons) another module with the same interface. */
export function loadLibrary(name = '.') {
  if (name !== '.') return require(name);
  const entry = join(root, 'dist', 'index.js');
  if (!existsSync(entry)) throw new Failure(`${entry} does not exist: the library is not built. Run: npm install`);
  return require(entry);
}
