// The suites. Each returns {passed, failed, skipped: [{name, reason}], problem?, absent?}.
import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {findViolations} from './include-rules.mjs';
import {require, root} from './process.mjs';

const noReason = 'no reason given';

/** Whoever holds the output of a program longer than this after its end was forgotten by it. */
const outputGraceMs = 20_000;

/** Streams a program's output to ours, and resolves to {output, how}; `how` is undefined for exit status 0. */
function stream(command, args, env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {cwd: root, env: {...process.env, ...env}, stdio: ['ignore', 'pipe', 'inherit']});
    let output = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => {
      output += text;
      process.stdout.write(text);
    });
    child.on('error', (error) => resolve({output, how: `could not be started: ${error.message}`}));
    let left;
    child.on('exit', () => {
      left = setTimeout(() => {
        child.stdout.destroy();
        resolve({output, how: `left a process that still has its output ${outputGraceMs / 1000} s later`});
      }, outputGraceMs);
    });
    child.on('close', (code, signal) => {
      clearTimeout(left);
      resolve({output, how: signal ? `ended by ${signal}` : code === 0 ? undefined : `exit status ${code}`});
    });
  });
}

function takeReport(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

export function runIncludeCheck() {
  const violations = findViolations();
  for (const {path, line, message} of violations) console.error(`${path}:${line}: ${message}`);
  const failed = violations.length > 0 ? 1 : 0;
  return {passed: 1 - failed, failed, skipped: []};
}

/** GoogleTest's JSON does not carry the reason of a skip: it is in the output, before the SKIPPED line. */
function skipReason(output, test) {
  const begin = output.indexOf(`[ RUN      ] ${test}\n`);
  const end = output.indexOf(`[  SKIPPED ] ${test} (`, begin);
  if (begin === -1 || end === -1) return noReason;
  const lines = output.slice(begin, end).split('\n').slice(1);
  const mark = lines.findIndex((line) => /: Skipped$/.test(line));
  return lines.slice(mark + 1).join(' ').trim() || noReason;
}

export async function runGoogleTest(buildDir, env = {}) {
  const program = join(buildDir, 'spty_tests');
  const reportPath = join(buildDir, 'spty_tests.json');
  if (!existsSync(program)) return {passed: 0, failed: 0, skipped: [], problem: `${program} was not built`};
  rmSync(reportPath, {force: true});
  const {output, how} = await stream(program, [`--gtest_output=json:${reportPath}`], env);
  const report = takeReport(reportPath);
  if (!report) return {passed: 0, failed: 1, skipped: [], problem: `${program} wrote no report: ${how ?? 'no error'}`};

  const result = {passed: 0, failed: 0, skipped: []};
  for (const suite of report.testsuites) {
    for (const test of suite.testsuite) {
      const title = `${suite.name}.${test.name}`;
      if (test.failures) result.failed += 1;
      else if (test.result === 'SKIPPED') result.skipped.push({name: title, reason: skipReason(output, title)});
      else if (test.status === 'NOTRUN') result.skipped.push({name: title, reason: 'disabled by its name'});
      else result.passed += 1;
    }
  }
  // For example a leak that the sanitizer found after the last test.
  if (how && result.failed === 0) Object.assign(result, {failed: 1, problem: `${program}: ${how}`});
  return result;
}

export async function runJest(args) {
  const reportPath = join(root, 'build', 'jest-report.json');
  mkdirSync(join(root, 'build'), {recursive: true});
  rmSync(reportPath, {force: true});
  const {how} = await stream(process.execPath, [require.resolve('jest/bin/jest'), '--config',
    join(root, 'jest.config.cjs'), '--json', `--outputFile=${reportPath}`, ...args], {});
  const report = takeReport(reportPath);
  if (!report) return {passed: 0, failed: 1, skipped: [], problem: `jest wrote no report: ${how ?? 'no error'}`};

  const result = {passed: report.numPassedTests, failed: report.numFailedTests, skipped: []};
  // A file that does not even load has no tests to fail.
  result.failed += report.numRuntimeErrorTestSuites;
  for (const file of report.testResults) {
    for (const test of file.assertionResults) {
      if (!['pending', 'skipped', 'todo', 'disabled'].includes(test.status)) continue;
      const [, title, reason] = test.fullName.match(/^(.*?)(?: \(skipped: (.*)\))?$/s);
      result.skipped.push({name: title, reason: reason ?? (test.status === 'todo' ? 'to do' : noReason)});
    }
  }
  if (how && result.failed === 0) Object.assign(result, {failed: 1, problem: `jest: ${how}`});
  return result;
}
