// From dispose() to the proof that nobody is left, and for how long the event loop had no time meanwhile.
import {performance} from 'node:perf_hooks';
import {now, percentile, sleep} from '../lib/meters.mjs';
import {seen} from '../lib/sessions.mjs';

const kWarmUps = 2;

function start({spawn}, {program, kind, n}) {
  if (kind === 'shell') return spawn('/bin/sh', ['-c', 'printf R; read line'], {});
  return spawn(program, ['run', kind, String(n)], {});
}

export async function dispose(pty, parameters) {
  const [took, blocked] = [[], []];
  for (let i = -kWarmUps; i < parameters.count; i++) {
    const terminal = start(pty, parameters);
    await seen(terminal, 'R');
    await sleep(20);
    const before = performance.eventLoopUtilization();
    const t0 = now();
    const report = await terminal.dispose();
    const t1 = now();
    // All turns together, so that no single one was longer.
    const {active} = performance.eventLoopUtilization(before);
    if (!report.converged) throw new Error(`not converged: ${JSON.stringify(report)}`);
    if (i < 0) continue;
    took.push(t1 - t0);
    blocked.push(active);
  }
  return {p50_ms: percentile(took, 0.5), p95_ms: percentile(took, 0.95), blocked_ms: percentile(blocked, 0.95)};
}

/** listProcesses(), which the event loop waits for. */
export async function list(pty, parameters) {
  const terminal = start(pty, parameters);
  await seen(terminal, 'R');
  const took = [];
  for (let i = -kWarmUps; i < parameters.count; i++) {
    const t0 = now();
    const processes = terminal.listProcesses();
    const t1 = now();
    if (processes.length !== parameters.n + 1) throw new Error(`${processes.length} processes in place of ${parameters.n + 1}`);
    if (i >= 0) took.push(t1 - t0);
  }
  await terminal.dispose();
  return {p50_ms: percentile(took, 0.5), p95_ms: percentile(took, 0.95)};
}
