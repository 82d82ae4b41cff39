// Formatting, include directions, types, eslint's findings, unused exports and generated documents. Changes nothing; `--fix` formats and repairs
// what can be. `--tidy [<files>]` runs clang-tidy instead, over all of native/ or the named files: it takes minutes.
import {existsSync, readdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {findViolations} from './lib/include-rules.mjs';
import {hasBuiltLib, tsc} from './lib/lib-build.mjs';
import {nativeTestsDir} from './lib/native-build.mjs';
import {Failure, main, require, root, run, runNode, which} from './lib/process.mjs';
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
  eslint: () => runNode(programOf('eslint', 'bin/eslint.js'), [...(fix ? ['--fix'] : []), 'lib', 'scripts', 'bench', 'examples']),
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

/** Needs compile_commands.json, which the build of the native tests leaves. */
function tidy() {
  const dir = nativeTestsDir();
  if (!existsSync(join(dir, 'compile_commands.json'))) throw new Failure('Run this first: npm run test:native');
  const named = process.argv.slice(process.argv.indexOf('--tidy') + 1);
  const files = named.length > 0 ? named : cppFiles.filter((path) => /^native\/.*\.cc$/.test(path) && !/_macos\.cc$/.test(path));
  run('clang-tidy', ['-p', dir, '--quiet', '--warnings-as-errors=*', ...files]);
}

await main(() => {
  const chosen = process.argv.includes('--tidy') ? {'clang-tidy': tidy} : checks;
  let failed = 0;
  for (const [name, check] of Object.entries(chosen)) {
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
