// A large paste: 20 MB to a raw-mode reader, in one write or in small ones.
import {cpuSeconds, delayHistogram, now, sleep} from '../lib/meters.mjs';
import {end, seen} from '../lib/sessions.mjs';

function pieces(bytes, block, type) {
  const size = block || bytes;
  const whole = Buffer.alloc(size, 'a');
  const flat = whole.toString('latin1');
  return Array.from({length: Math.ceil(bytes / size)}, (_, i) => {
    const length = Math.min(size, bytes - i * size);
    if (type === 'string') return length === size ? flat : flat.slice(0, length);
    return whole.subarray(0, length);
  });
}

export async function input({spawn}, {program, bytes, block, type}) {
  const terminal = spawn(program, [String(bytes)], {});
  await seen(terminal, 'R');
  const parts = pieces(bytes, block, type);
  await sleep(20);
  const done = seen(terminal, ';');
  const histogram = delayHistogram();
  let longest = 0;
  const [cpu0, t0] = [cpuSeconds(), now()];
  let last = t0;
  for (const part of parts) {
    terminal.write(part);
    const t = now();
    if (t - last > longest) longest = t - last;
    last = t;
  }
  const calls = last - t0;
  const text = await done;
  const [seconds, cpu] = [(now() - t0) / 1e3, cpuSeconds() - cpu0];
  histogram.stop();
  await end(terminal);
  const sum = Number(/D(\d+);/.exec(text)?.[1]);
  if (sum !== bytes * 97) throw new Error(`the reader got other bytes than were sent (sum ${sum})`);
  return {
    mbps: bytes / 1e6 / seconds,
    cpu_s_per_gb: cpu / (bytes / 1e9),
    calls_ms: calls,
    longest_call_ms: longest,
    longest_delay_ms: histogram.max(),
  };
}
