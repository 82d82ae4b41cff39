// Runs every suite and ends with one line: N passed, N failed, N skipped.
//   node scripts/test.mjs [--native] [--js] [--example] [--sanitize=address,undefined] [--no-build] [-- <jest arguments>]
// Exit status 1 on a failure, on no tests at all, and with CI=true on a skip that test/expected-skips.json does not name.
import {parseArgs} from 'node:util';
import {installWebTerminal} from './lib/example.mjs';
import {watchLeftovers} from './lib/leftovers.mjs';
import {buildJsTests, buildLib} from './lib/lib-build.mjs';
import {buildNativeTests, buildWithCmakeJs, nativeTestsDir} from './lib/native-build.mjs';
import {Failure, main} from './lib/process.mjs';
import {runGoogleTest, runIncludeCheck, runJest} from './lib/suites.mjs';
import {loadExpectedSkips, reportSkips} from './lib/skips.mjs';

/** Exit status 0 with these: what a sanitizer found is then a test failure, and a leak is one too. */
const sanitizerEnvironment = {
  ASAN_OPTIONS: 'detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1',
  UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
  TSAN_OPTIONS: 'halt_on_error=1:second_deadlock_stack=1',
};

await main(async () => {
  const {values, positionals} = parseArgs({
    allowPositionals: true,
    options: {
      native: {type: 'boolean'}, js: {type: 'boolean'}, example: {type: 'boolean'}, sanitize: {type: 'string', default: ''},
      'no-build': {type: 'boolean'},
    },
  });
  const all = !values.native && !values.js && !values.example;
  const build = !values['no-build'];
  const suites = [];
  /** A suite that cannot even be built is a failed one; the others still run. */
  const suite = async (name, body) => {
    try {
      const result = await body();
      if (!result.absent) suites.push({name, ...result});
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      suites.push({name, passed: 0, failed: 1, skipped: [], problem: error.message});
    }
  };

  const buildForJs = () => {
    if (build) {
      buildWithCmakeJs();
      buildLib();
    }
    buildJsTests();
  };

  const leftovers = watchLeftovers();
  if (all) await suite('include directions', runIncludeCheck);
  if (all || values.native) {
    const dir = nativeTestsDir(values.sanitize);
    await suite('native tests', () => {
      if (build) buildNativeTests({sanitize: values.sanitize});
      return runGoogleTest(dir, values.sanitize ? sanitizerEnvironment : {});
    });
  }
  if (all || values.js) {
    await suite('JavaScript tests', () => {
      buildForJs();
      return runJest(positionals);
    });
  }

  // Not one of all: it downloads, and needs a browser.
  if (values.example) {
    await suite('the web terminal', () => {
      buildForJs();
      installWebTerminal({forTests: true});
      return runJest(['--testPathIgnorePatterns=/node_modules/', '--testPathPatterns=/test-js/examples/', ...positionals]);
    });
  }

  await suite('nothing left behind', leftovers);

  console.log('');
  const sum = {passed: 0, failed: 0, skipped: []};
  for (const {name, passed, failed, skipped, problem} of suites) {
    console.log(`${name}: ${passed} passed, ${failed} failed, ${skipped.length} skipped${problem ? ` (${problem})` : ''}`);
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped.push(...skipped);
  }
  const surprises = reportSkips(sum.skipped, loadExpectedSkips());
  const empty = suites.filter(({passed, failed}) => passed + failed === 0);
  for (const {name} of empty) console.error(`${name}: no test ran, which is a failure`);
  const forbidden = process.env.CI === 'true' && surprises > 0;
  if (forbidden) console.error(`${surprises} skipped without an entry in test/expected-skips.json: with CI=true that is a failure`);

  console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped.length} skipped`);
  return sum.failed > 0 || empty.length > 0 || forbidden ? 1 : 0;
});
