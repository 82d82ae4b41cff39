// Runs measurements: one process each, the implementations in turn, the order reversed every other round, so that a
// change of the machine's mood hits all of them alike.
import {spawn} from 'node:child_process';

const kTimeoutMs = 60_000;
const running = new Set();

/** Only for children whose end has not been seen yet: until then nobody else can have the number. */
function killGroup(child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended this moment.
  }
}

/** Sessions of a killed host get a hangup from the kernel when their masters close. */
export function killAll() {
  for (const child of running) killGroup(child);
}

for (const [signal, number] of [['SIGINT', 2], ['SIGTERM', 15], ['SIGHUP', 1]]) {
  process.once(signal, () => {
    killAll();
    process.exit(128 + number);
  });
}
process.once('exit', killAll);

const nobody = {uid: 65534, gid: 65534, env: {...process.env, HOME: '/nonexistent'}};

function measure([file, ...args], asUser) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args.map(String), {detached: true, stdio: ['ignore', 'pipe', 'pipe'], ...(asUser && nobody)});
    running.add(child);
    let [out, err, late] = ['', '', false];
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
    const timer = setTimeout(() => {
      late = true;
      killGroup(child);
    }, kTimeoutMs);
    const over = () => {
      clearTimeout(timer);
      running.delete(child);
    };
    child.once('error', (error) => {
      over();
      reject(error);
    });
    child.once('close', (code, signal) => {
      over();
      if (late) return reject(new Error(`no result after ${kTimeoutMs / 1000} s`));
      const lastWords = err.trim().split('\n').slice(-6).join(' | ');
      if (code !== 0) return reject(new Error(`ended with ${signal ?? code}: ${lastWords}`));
      try {
        resolve(JSON.parse(out));
      } catch {
        reject(new Error(`printed no result: ${out.slice(0, 200)}`));
      }
    });
  });
}

/**
 * Returns {results: {implementation: [metrics of round 0, ...]}, errors: {implementation: message}}. A round that
 * failed is undefined in its place, so that rounds stay comparable.
 */
export async function runFigure(figure, implementations, rounds, quick, progress) {
  const parameters = quick ? figure.quick : figure.full;
  const able = implementations
    .map(({name, command}) => ({name, argv: command(figure.figure, parameters)}))
    .filter(({argv}) => argv !== undefined);
  const results = Object.fromEntries(able.map(({name}) => [name, []]));
  const errors = {};
  for (let round = 0; round < rounds; round++) {
    for (const {name, argv} of round % 2 ? [...able].reverse() : able) {
      progress(`${figure.id}: round ${round + 1} of ${rounds}, ${name}`);
      try {
        results[name][round] = await measure(argv, figure.asUser);
      } catch (error) {
        results[name][round] = undefined;
        errors[name] = error.message;
      }
    }
  }
  return {results, errors};
}
