// How long spawn() blocks, and how long until the exit of /bin/true is known.
import {performance} from 'node:perf_hooks';
import {now, percentile, sleep} from '../lib/meters.mjs';
import {exited, touchHeap} from '../lib/sessions.mjs';

const kWarmUps = 3;

export async function spawn({spawn}, {heap, count, gap}) {
  touchHeap(heap);
  const [calls, pids, exits] = [[], [], []];
  // Every other time the pid is asked for at once, as many programs do.
  for (let i = -2 * kWarmUps; i < 2 * count; i++) {
    await sleep(gap);
    const t0 = now();
    const terminal = spawn('/bin/true', [], {});
    const asks = i % 2 !== 0;
    if (asks && !(terminal.pid > 0)) throw new Error(`the pid is ${terminal.pid}`);
    const t1 = now();
    await exited(terminal);
    const t2 = now();
    if (i < 0) continue;
    (asks ? pids : calls).push(t1 - t0);
    exits.push(t2 - t0);
  }
  return {
    call_p50_ms: percentile(calls, 0.5),
    pid_p50_ms: percentile(pids, 0.5),
    call_p95_ms: percentile(calls, 0.95),
    exit_p50_ms: percentile(exits, 0.5),
    exit_p95_ms: percentile(exits, 0.95),
  };
}

/** `blocked_ms` is the time that the loop was not free for anything else, from the first call to the last exit. */
export async function burst({spawn}, {count}) {
  await exited(spawn('/bin/true', [], {}));
  await sleep(50);
  const before = performance.eventLoopUtilization();
  const t0 = now();
  const terminals = Array.from({length: count}, () => spawn('/bin/true', [], {}));
  const t1 = now();
  await Promise.all(terminals.map(exited));
  const t2 = now();
  await new Promise((resolve) => setImmediate(resolve));
  const {active} = performance.eventLoopUtilization(before);
  return {blocked_ms: active, calls_ms: t1 - t0, all_exited_ms: t2 - t0};
}
