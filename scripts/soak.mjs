// Starts and ends many short sessions and checks that nothing is left behind.
//   node scripts/soak.mjs [--cycles 10000] [--parallel 8] [--module <name>]
//   node scripts/soak.mjs --dispose [--cycles 10000] [--parallel 8]    sessions of every kind, ended by dispose()
//   node scripts/soak.mjs --host-death 300 [--seed 1]                  hosts that are killed
import {spawn as spawnProcess} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {loadLibrary} from './lib/library.mjs';
import {Failure, main} from './lib/process.mjs';
import {measure, settle, table} from './lib/resources.mjs';
import {soakHostDeath} from './soak-host-death.mjs';

const warmUp = 500;
const program = '/bin/true';

function cycle(library) {
  return new Promise((resolve, reject) => {
    const pty = library.spawn(program, [], {cols: 80, rows: 24});
    pty.onData(() => {});
    pty.onExit(({exitCode, signal}) => {
      if (exitCode === 0 && !signal) resolve();
      else reject(new Failure(`${program} ended with exit code ${exitCode} and signal ${signal ?? 0}`));
    });
  });
}

/** Confined and not, idle and with a background process that has left its session. */
function disposeCycle(library, index) {
  const text = index % 4 < 2 ? 'echo ready; read line' : '(setsid sh -c "trap : HUP; sleep 1000" &); echo ready; read line';
  const sandbox = index % 2 === 0 ? {projectDir: process.cwd(), sandbox: {enabled: true, profile: 'workspace'}} : {};
  return new Promise((resolve, reject) => {
    const pty = library.createSandboxedPty({file: '/bin/sh', args: ['-c', text], ...sandbox});
    const dispose = () => pty.dispose().then((report) => {
      if (report.converged && !report.problem) resolve();
      else reject(new Failure(`dispose: ${JSON.stringify(report)}`));
    }, reject);
    // Every eighth right away.
    if (index % 8 === 7) dispose();
    else pty.onData(dispose);
  });
}

async function runCycles(cycle, count, parallel, onProgress) {
  let started = 0;
  let done = 0;
  const lane = async () => {
    while (started < count) {
      started += 1;
      await cycle(started);
      done += 1;
      onProgress(done);
    }
  };
  await Promise.all(Array.from({length: Math.min(parallel, count)}, lane));
}

function progressBar(total) {
  const begin = Date.now();
  let shown = -1;
  return (done) => {
    const steps = process.stdout.isTTY ? 100 : 10;
    const step = Math.floor((done / total) * steps);
    if (step === shown) return;
    shown = step;
    const filled = Math.round((done / total) * 40);
    const rate = Math.round(done / Math.max((Date.now() - begin) / 1000, 0.001));
    const text = `[${'#'.repeat(filled)}${'.'.repeat(40 - filled)}] ${done}/${total}, ${rate} per second`;
    process.stdout.write(process.stdout.isTTY ? `\r${text}${done === total ? '\n' : ''}` : `${text}\n`);
  };
}

async function soak({cycles, parallel, module, dispose}) {
  const library = loadLibrary(module);
  const once = dispose ? (index) => disposeCycle(library, index) : () => cycle(library);
  const what = dispose ? 'shells, each disposed of' : program;
  console.log(`${cycles} sessions of ${what}, ${parallel} at a time, after ${warmUp} to warm up`);
  await runCycles(once, warmUp, parallel, () => {});
  await settle();
  const before = measure();
  await runCycles(once, cycles, parallel, progressBar(cycles));
  await settle(before);
  const after = measure();
  const {text, leaks} = table(before, after);
  console.log(text);
  if (leaks.length > 0) throw new Failure(`Left behind: ${leaks.join(', ')}`);
  console.log('Nothing was left behind.');
}

await main(async () => {
  const {values} = parseArgs({
    options: {
      cycles: {type: 'string', default: '10000'}, parallel: {type: 'string', default: '8'},
      module: {type: 'string', default: '.'}, dispose: {type: 'boolean', default: false},
      'host-death': {type: 'string'}, seed: {type: 'string', default: '1'},
    },
  });
  const [cycles, parallel] = [Number(values.cycles), Number(values.parallel)];
  if (!(Number.isInteger(cycles) && cycles > 0 && Number.isInteger(parallel) && parallel > 0)) {
    throw new Failure('--cycles and --parallel take a whole number above 0');
  }
  if (process.platform !== 'linux') throw new Failure('The soak test reads /proc and runs on Linux only');
  if (values['host-death'] !== undefined) {
    const rounds = Number(values['host-death']);
    if (!(Number.isInteger(rounds) && rounds > 0)) throw new Failure('--host-death takes a whole number above 0');
    return soakHostDeath(rounds, Number(values.seed), progressBar(rounds));
  }
  if (globalThis.gc) return soak({cycles, parallel, module: values.module, dispose: values.dispose});
  // Memory can only be compared after a collection, which needs a flag; the mark makes strays recognisable.
  const child = spawnProcess(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    {stdio: 'inherit', env: {...process.env, SPTY_SOAK: String(process.pid)}});
  return new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ? 1 : code)));
});
