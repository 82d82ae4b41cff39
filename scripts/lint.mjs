// Formatting, include directions, types, eslint's findings, unused exports and generated documents. Changes nothing; `--fix` formats and repairs
// what can be. `--tidy [<files or folders>]` runs clang-tidy instead, over all of native/ or what is named: it takes minutes.
import {readdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {findViolations} from './lib/include-rules.mjs';
import {hasBuiltLib, tsc} from './lib/lib-build.mjs';
import {Failure, main, require, root, run, runNode, which} from './lib/process.mjs';
import {tidy} from './lib/tidy.mjs';
import {unusedExports} from './lib/unused-exports.mjs';

const fix = process.argv.includes('--fix');
const programOf = (name, path) => join(dirname(require.resolve(`${name}/package.json`)), path);

const cppFiles = ['native', 'test/native', 'test/escape'].flatMap((dir) =>
  readdirSync(join(root, dir), {recursive: true})
    .filter((path) => /\.(cc|h)$/.test(path))
    .map((path) => join(dir, path)));

const checks = {
  'C++ formatting': () => {
    if (!which('clang-format')) {
      throw new Failure('clang-format is not in PATH. Debian: apt-get install clang-format');
    }
    const mode = fix ? ['-i'] : ['--dry-run', '-Werror'];
    if (cppFiles.length > 0) run('clang-format', [...mode, ...cppFiles]);
  },
  'formatting of lib/ and examples': () => runNode(programOf('prettier', 'bin/prettier.cjs'), ['--log-level', 'warn', fix ? '--write' : '--check', 'lib',
    'examples/**/*.{js,cjs,mjs,html,css}']),
  eslint: () => runNode(programOf('eslint', 'bin/eslint.js'), [...(fix ? ['--fix'] : []), 'lib', 'test/js', 'scripts', 'bench', 'examples']),
  'unused exports': () => {
    const unused = unusedExports();
    if (unused.length > 0) throw new Failure(unused.join('\n'));
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
  'settings reference': () => runNode(join(root, 'scripts', 'settings-reference.mjs'), fix ? [] : ['--check']),
};

await main(async () => {
  const named = process.argv.slice(process.argv.indexOf('--tidy') + 1);
  const isNamed = (path) => named.length === 0 || named.some((name) => path === name || path.startsWith(`${name}/`));
  const sources = cppFiles.filter((path) => /^native\/.*\.cc$/.test(path) && !/_macos\.cc$/.test(path) && isNamed(path));
  const chosen = process.argv.includes('--tidy') ? {'clang-tidy': () => tidy(sources)} : checks;
  let failed = 0;
  for (const [name, check] of Object.entries(chosen)) {
    try {
      await check();
      console.log(`ok: ${name}`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failed += 1;
      console.error(`${error.message}\nfailed: ${name}`);
    }
  }
  return failed > 0 ? 1 : 0;
});
