// Writes the manual page from the same tables as --help. `--check` changes nothing and fails if it is out of date.
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {Failure, main, root} from './lib/process.mjs';

await main(() => {
  const require = createRequire(import.meta.url);
  if (!existsSync(join(root, 'dist', 'cli', 'man-page.js'))) throw new Failure('dist/ is missing. Run: npm run build:lib');
  const {manPage} = require(join(root, 'dist', 'cli', 'man-page.js'));
  const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const file = join(root, 'man', 'sandboxed-pty.1');
  const text = manPage(version);
  if (process.argv.includes('--check')) {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) throw new Failure(`${file} is out of date. Run: npm run man`);
    return;
  }
  mkdirSync(dirname(file), {recursive: true});
  writeFileSync(file, text);
});
