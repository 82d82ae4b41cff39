// Echo round trip through a raw-mode cat, and the time from kill() to the exit event.
import {now, percentile, sleep} from '../lib/meters.mjs';
import {end, exited, seen} from '../lib/sessions.mjs';

async function startShell({spawn}, script) {
  const terminal = spawn('/bin/sh', ['-c', script], {});
  await seen(terminal, 'R');
  await sleep(20);
  return terminal;
}

export async function echo(pty, {bytes, count, gap}) {
  const terminal = await startShell(pty, 'stty raw -echo; printf R; exec cat');
  const text = 'a'.repeat(bytes);
  const took = [];
  let missing = 0;
  let back;
  terminal.onData((chunk) => {
    missing -= chunk.length;
    if (missing === 0) back();
  });
  for (let i = -10; i < count; i++) {
    if (gap > 0) await sleep(gap);
    missing = bytes;
    const t0 = now();
    await new Promise((resolve) => {
      back = resolve;
      terminal.write(text);
    });
    if (i >= 0) took.push(now() - t0);
  }
  await end(terminal);
  return {p50_ms: percentile(took, 0.5), p95_ms: percentile(took, 0.95)};
}

export async function kill(pty, {count}) {
  const took = [];
  for (let i = -2; i < count; i++) {
    const terminal = await startShell(pty, 'printf R; exec sleep 100');
    const exit = exited(terminal);
    const t0 = now();
    terminal.kill('SIGKILL');
    await exit;
    if (i >= 0) took.push(now() - t0);
  }
  return {p50_ms: percentile(took, 0.5), p95_ms: percentile(took, 0.95)};
}
