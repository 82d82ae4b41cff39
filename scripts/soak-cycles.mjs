// Many short sessions, some at a time: those that end by themselves, those that are disposed of, and what they print.
import {Failure} from './lib/process.mjs';
import {differences, measure, settle} from './lib/resources.mjs';

const longestWarmUp = 500;

/** A program that ends at once. */
export function exitCycle(library) {
  const program = '/bin/true';
  return new Promise((resolve, reject) => {
    const pty = library.spawn(program, [], {cols: 80, rows: 24});
    pty.onData(() => {});
    pty.onExit(({exitCode, signal}) => {
      if (exitCode === 0 && !signal) resolve();
      else reject(new Failure(`${program} ended with exit code ${exitCode} and signal ${signal ?? 0}`));
    });
  });
}

const confinement = () => ({projectDir: process.cwd(), sandbox: {enabled: true, profile: 'workspace'}});

/** Confined and not, idle and with a background process that has left its session. */
export function disposeCycle(library, index) {
  const text = index % 4 < 2 ? 'echo ready; read line' : '(setsid sh -c "trap : HUP; sleep 1000" &); echo ready; read line';
  return new Promise((resolve, reject) => {
    const pty = library.createSandboxedPty({file: '/bin/sh', args: ['-c', text], ...(index % 2 === 0 && confinement())});
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

/** Rows of the final table: what this process held before and holds after. */
export async function soakCycles(cycle, count, parallel, onProgress) {
  // The first time that it is used for a pipe, Node.js opens a descriptor for it.
  process.stdout.write('');
  await runCycles(cycle, Math.min(longestWarmUp, count), parallel, () => {});
  await settle();
  const before = measure();
  await runCycles(cycle, count, parallel, onProgress);
  await settle(before);
  return differences(before, measure());
}

const lines = 3000;

/** Whether every line of a short output arrives before the exit. Without a policy and, where the module has it, with one. */
function isComplete(library, index, whole) {
  const mayConfine = library.createSandboxedPty !== undefined && index % 2 === 0;
  return new Promise((resolve) => {
    const pty = mayConfine
      ? library.createSandboxedPty({file: 'seq', args: ['1', String(lines)], ...confinement()})
      : library.spawn('seq', ['1', String(lines)], {});
    let output = '';
    pty.onData((data) => (output += data));
    pty.onExit(({exitCode, signal}) => resolve(exitCode === 0 && !signal && output === whole));
  });
}

export async function soakCompleteness(library, count, parallel, onProgress) {
  const whole = Array.from({length: lines}, (_, i) => `${i + 1}\r\n`).join('');
  let complete = 0;
  await runCycles(async (index) => {
    if (await isComplete(library, index, whole)) complete += 1;
  }, count, parallel, onProgress);
  return [{name: `seq 1 ${lines} complete`, bar: String(count), found: String(complete), met: complete === count}];
}
