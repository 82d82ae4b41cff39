// Formatting, include directions and types. Changes nothing; `--fix` formats the C++ files.
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {findViolations} from './lib/include-rules.mjs';
import {hasBuiltLib, tsc} from './lib/lib-build.mjs';
import {Failure, main, root, run, which} from './lib/process.mjs';

const cppFiles = ['native', 'test/native', 'test/escape'].flatMap((dir) =>
  readdirSync(join(root, dir), {recursive: true})
    .filter((path) => /\.(cc|h)$/.test(path))
    .map((path) => join(dir, path)));

const checks = {
  'C++ formatting': () => {
    if (!which('clang-format')) {
      throw new Failure('clang-format is not in PATH. Debian: apt-get install clang-format');
    }
    const mode = process.argv.includes('--fix') ? ['-i'] : ['--dry-run', '-Werror'];
    if (cppFiles.length > 0) run('clang-format', [...mode, ...cppFiles]);
  },
  'include directions': () => {
    const violations = findViolations();
    if (violations.length === 0) return;
    throw new Failure(violations.map(({path, line, message}) => `${path}:${line}: ${message}`).join('\n'));
  },
  'types of lib/': () => tsc(['--noEmit', '-p', root]),
  'types of test/js': () => {
    if (!hasBuiltLib()) throw new Failure('dist/ is missing, and the tests import its typings. Run: npm run build:lib');
    tsc(['--noEmit', '-p', join(root, 'test', 'js')]);
  },
};

await main(() => {
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      check();
      console.log(`ok: ${name}`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failed += 1;
      console.error(`${error.message}\nfailed: ${name}`);
    }
  }
  return failed > 0 ? 1 : 0;
});
