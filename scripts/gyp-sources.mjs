// Prints the source files of the named lists of native/sources.json (and of their <list>_<platform> variants), one per
// line and relative to the package, for binding.gyp.
import {readFileSync} from 'node:fs';
import {posix} from 'node:path';

const platform = process.platform === 'darwin' ? 'macos' : 'linux';
const lists = JSON.parse(readFileSync(new URL('../native/sources.json', import.meta.url), 'utf8'));
const paths = process.argv.slice(2)
  .flatMap((name) => [...(lists[name] ?? []), ...(lists[`${name}_${platform}`] ?? [])])
  .map((path) => posix.normalize(`native/${path}`));
for (const path of new Set(paths)) console.log(path);
