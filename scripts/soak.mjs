// Starts and ends many short sessions and checks that nothing is left behind.
//   node scripts/soak.mjs [--cycles 10000] [--parallel 8] [--module <name>]
import {spawn as spawnProcess} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {loadLibrary} from './lib/library.mjs';
import {Failure, main} from './lib/process.mjs';
import {measure, settle, table} from './lib/resources.mjs';

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

async function runCycles(library, count, parallel, onProgress) {
  let started = 0;
  let done = 0;
  const lane = async () => {
    while (started < count) {
      started += 1;
      await cycle(library);
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

async function soak({cycles, parallel, module}) {
  const library = loadLibrary(module);
  console.log(`${cycles} sessions of ${program}, ${parallel} at a time, after ${warmUp} to warm up`);
  await runCycles(library, warmUp, parallel, () => {});
  await settle();
  const before = measure();
  await runCycles(library, cycles, parallel, progressBar(cycles));
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
      module: {type: 'string', default: '.'},
    },
  });
  const [cycles, parallel] = [Number(values.cycles), Number(values.parallel)];
  if (!(Number.isInteger(cycles) && cycles > 0 && Number.isInteger(parallel) && parallel > 0)) {
    throw new Failure('--cycles and --parallel take a whole number above 0');
  }
  if (process.platform !== 'linux') throw new Failure('The soak test reads /proc and runs on Linux only');
  if (globalThis.gc) return soak({cycles, parallel, module: values.module});
  // Memory can only be compared after a collection, which needs a flag; the mark makes strays recognisable.
  const child = spawnProcess(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    {stdio: 'inherit', env: {...process.env, SPTY_SOAK: String(process.pid)}});
  return new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ? 1 : code)));
});
