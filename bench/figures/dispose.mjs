// From dispose() to the proof that nobody is left, and for how long the event loop had no time meanwhile.
import {stat} from 'node:fs/promises';
import {performance} from 'node:perf_hooks';
import {CollectionMeter, now, percentile, sleep, waitedForProcessor} from '../lib/meters.mjs';
import {seen} from '../lib/sessions.mjs';

const kWarmUps = 2;

function start({spawn}, {program, kind, n}) {
  if (kind === 'shell') return spawn('/bin/sh', ['-c', 'printf R; read line'], {});
  return spawn(program, ['run', kind, String(n)], {});
}

export async function dispose(pty, parameters) {
  const collections = new CollectionMeter();
  const disposals = [];
  for (let i = -kWarmUps; i < parameters.count; i++) {
    const terminal = start(pty, parameters);
    await seen(terminal, 'R');
    await sleep(20);
    const waited = waitedForProcessor();
    const before = performance.eventLoopUtilization();
    const t0 = now();
    const report = await terminal.dispose();
    const t1 = now();
    // All turns together, so that no single one was longer.
    const {active} = performance.eventLoopUtilization(before);
    const waiting = waitedForProcessor() - waited;
    if (!report.converged) throw new Error(`not converged: ${JSON.stringify(report)}`);
    if (i >= 0) disposals.push({t0, t1, active, waiting});
  }
  await sleep(20);
  collections.stop();
  const took = disposals.map(({t0, t1}) => t1 - t0);
  const blocked = disposals.map(({t0, t1, active, waiting}) => active - waiting - collections.between(t0, t1));
  return {
    p50_ms: percentile(took, 0.5), p95_ms: percentile(took, 0.95), blocked_ms: Math.max(0, ...blocked),
    delayed_ms: Math.max(...disposals.map(({active}) => active)),
  };
}

/** How long one call after the other takes that needs a thread of libuv's pool, for as long as `busy()` says. */
async function statTimes(busy) {
  const took = [];
  while (busy(took.length)) {
    const t0 = now();
    await stat('/');
    took.push(now() - t0);
  }
  return took;
}

/** What others who need a thread notice of many disposals at once. */
export async function disposeMany(pty, {sessions, count}) {
  const kCallsBefore = 500;
  const [before, during, all] = [[], [], []];
  for (let i = -1; i < count; i++) {
    const terminals = Array.from({length: sessions}, () => start(pty, {kind: 'shell'}));
    await Promise.all(terminals.map((terminal) => seen(terminal, 'R')));
    await sleep(20);
    const quiet = await statTimes((done) => done < kCallsBefore);
    let disposed = 0;
    const t0 = now();
    const disposals = terminals.map((terminal) => terminal.dispose().then((report) => {
      disposed += 1;
      if (!report.converged) throw new Error(`not converged: ${JSON.stringify(report)}`);
    }));
    const disturbed = await statTimes(() => disposed < sessions);
    await Promise.all(disposals);
    if (i < 0) continue;
    all.push(now() - t0);
    before.push(...quiet);
    during.push(...disturbed);
  }
  const [quiet, disturbed] = [percentile(before, 0.5), percentile(during, 0.5)];
  return {
    all_ms: percentile(all, 0.5), fs_before_ms: quiet, fs_during_ms: disturbed, fs_ratio: disturbed / quiet,
    fs_worst_ms: Math.max(...during),
  };
}

/** listProcesses(), which the event loop waits for. */
export async function list(pty, parameters) {
  const terminal = start(pty, parameters);
  await seen(terminal, 'R');
  const took = [];
  let first;
  for (let i = -kWarmUps; i < parameters.count; i++) {
    const t0 = now();
    const processes = terminal.listProcesses();
    const t1 = now();
    if (processes.length !== parameters.n + 1) throw new Error(`${processes.length} processes in place of ${parameters.n + 1}`);
    first ??= t1 - t0;
    if (i >= 0) took.push(t1 - t0);
  }
  await terminal.dispose();
  return {first_ms: first, p50_ms: percentile(took, 0.5), p95_ms: percentile(took, 0.95)};
}
