// Everything that has to be green. One line per step, its output in build/check; with CI=true the output is shown as it
// comes.
//   node scripts/check.mjs [<step>... | --but <step>]
import {spawn} from 'node:child_process';
import {createWriteStream, mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {Failure, main, root} from './lib/process.mjs';

const steps = {
  test: ['npm', 'test'],
  lint: ['npm', 'run', '--silent', 'lint'],
  start: ['npm', 'start'],
  package: ['npm', 'run', '--silent', 'test:package'],
  gyp: ['scripts/test-gyp.sh'],
  // They compile without a warning, link, and need nothing that macOS does not have. The cross compiler is for x64 only.
  ...(process.platform === 'linux' && process.arch === 'x64' && {
    macos: ['sh', '-c', 'node scripts/prebuild.mjs --target darwin-arm64 --target darwin-x64 --warnings && node scripts/check-macos-symbols.mjs'],
  }),
  fuzz: ['npm', 'run', '--silent', 'fuzz', '--', '--seconds', '10'],
  asan: ['npm', 'run', 'test:asan'],
  // A second run as another user is only possible, and only needed, for root.
  ...(process.getuid() === 0 && {unprivileged: ['scripts/test-unprivileged.sh']}),
};

const loud = process.env.CI === 'true';

/** Resolves to undefined, or to how the step ended. */
function runStep([command, ...args], log) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {cwd: root, stdio: ['ignore', 'pipe', 'pipe']});
    const file = createWriteStream(log);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        file.write(data);
        if (loud) process.stdout.write(data);
      });
    }
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => {
      file.end(() => resolve(code === 0 ? undefined : signal ? `ended by ${signal}` : `exit status ${code}`));
    });
  });
}

const lastLines = (path, count) => readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count).join('\n');

await main(async () => {
  const given = process.argv.slice(2);
  const names = given[0] === '--but' ? Object.keys(steps).filter((name) => !given.includes(name)) : given;
  const unknown = names.filter((name) => !(name in steps));
  if (unknown.length > 0) throw new Failure(`No step is named ${unknown.join(' or ')}. The steps are ${Object.keys(steps).join(', ')}.`);
  const logs = join(root, 'build', 'check');
  mkdirSync(logs, {recursive: true});
  const failed = [];
  for (const name of names.length > 0 ? names : Object.keys(steps)) {
    if (loud) console.log(`\n==== ${name} (after ${Math.round(performance.now() / 1000)} s)`);
    const begin = performance.now();
    const log = join(logs, `${name}.log`);
    const how = await runStep(steps[name], log);
    const seconds = Math.round((performance.now() - begin) / 1000);
    if (how === undefined) {
      console.log(`ok      ${name} (${seconds} s): ${lastLines(log, 1)}`);
      continue;
    }
    failed.push(name);
    if (!loud) console.log(lastLines(log, 40));
    console.log(`failed  ${name} (${seconds} s): ${how}; all of its output is in ${log}`);
  }
  if (failed.length > 0) throw new Failure(`Failed: ${failed.join(', ')}`);
});
