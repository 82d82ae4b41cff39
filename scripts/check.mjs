// Everything that has to be green. One line per step, its output in build/check; with CI=true the output is shown as it
// comes.
//   node scripts/check.mjs [<step>... | --but <step>]
import {spawn} from 'node:child_process';
import {createWriteStream, mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {Failure, main, root} from './lib/process.mjs';

// Run beside the other steps, one after the other, and let them go first: these only compile, and the others mostly wait.
const beside = ['prebuild', 'macos', 'tidy'];

// A second run as another user is only possible, and only needed, for root.
const isRoot = process.getuid() === 0;

// See scripts/lib/zig.mjs.
const hasCrossCompiler = process.platform === 'linux' && process.arch === 'x64';

const steps = {
  test: ['npm', 'test'],
  lint: ['npm', 'run', '--silent', 'lint'],
  start: ['npm', 'start'],
  // As who runs it only: a browser takes its time. scripts/test-unprivileged.sh --example is the other half.
  example: ['npm', 'run', '--silent', 'test:example'],
  gyp: ['scripts/test-gyp.sh'],
  // What is shipped for this machine, made as it is shipped, for the step that installs it.
  ...(hasCrossCompiler && {prebuild: ['node', 'scripts/prebuild.mjs', '--target', 'linux-x64']}),
  // They compile without a warning, link, and need nothing that macOS does not have; so do the native tests, for one of the
  // two.
  ...(hasCrossCompiler && {
    macos: ['sh', '-c', 'node scripts/prebuild.mjs --target darwin-arm64 --warnings --tests && ' +
      'node scripts/prebuild.mjs --target darwin-x64 --warnings && node scripts/check-macos-symbols.mjs --warnings --tests darwin-arm64'],
  }),
  // Of the program that holds sessions; the rest takes too long, and has a night for it.
  tidy: ['npm', 'run', '--silent', 'lint:tidy', '--', 'native/base', 'native/keeper'],
  ...(process.platform === 'linux' && {soak: ['npm', 'run', '--silent', 'soak', '--', '--short']}),
  fuzz: ['npm', 'run', '--silent', 'fuzz', '--', '--seconds', '10'],
  asan: ['npm', 'run', 'test:asan'],
  package: ['npm', 'run', '--silent', 'test:package', ...(hasCrossCompiler ? [] : ['--', '--built'])],
  ...(isRoot && {unprivileged: ['scripts/test-unprivileged.sh']}),
};

const loud = process.env.CI === 'true';

/** Resolves to {how, seconds}; `how` is undefined for a step that ended well. */
async function runStep(command, log, show = loud) {
  const begin = performance.now();
  const how = await runCommand(command, log, show);
  return {how, seconds: Math.round((performance.now() - begin) / 1000)};
}

function runCommand([command, ...args], log, show) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {cwd: root, stdio: ['ignore', 'pipe', 'pipe']});
    const file = createWriteStream(log);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        file.write(data);
        if (show) process.stdout.write(data);
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
  const report = (name, {how, seconds}, shown) => {
    const log = join(logs, `${name}.log`);
    if (how === undefined) return console.log(`ok      ${name} (${seconds} s): ${lastLines(log, 1)}`);
    failed.push(name);
    if (!shown) console.log(lastLines(log, 40));
    console.log(`failed  ${name} (${seconds} s): ${how}; all of its output is in ${log}`);
  };
  const wanted = names.length > 0 ? names : Object.keys(steps);
  const others = wanted.filter((name) => !beside.includes(name));
  const compiled = {};
  let previous = Promise.resolve();
  for (const name of wanted.filter((each) => beside.includes(each))) {
    compiled[name] = previous = previous.then(() => runStep(['nice', '-n', '19', ...steps[name]], join(logs, `${name}.log`), false));
  }
  for (const name of others) {
    if (name === 'package') await compiled.prebuild;
    if (loud) console.log(`\n==== ${name} (after ${Math.round(performance.now() / 1000)} s)`);
    report(name, await runStep(steps[name], join(logs, `${name}.log`)), loud);
  }
  for (const [name, end] of Object.entries(compiled)) report(name, await end, false);
  if (failed.length > 0) throw new Failure(`Failed: ${failed.join(', ')}`);
});
