// Output at full speed: throughput, and what it costs the host.
import {cpuSeconds, delayHistogram, now, sleep, TurnMeter} from '../lib/meters.mjs';
import {end} from '../lib/sessions.mjs';

const kWarmUpMs = 150;

function startProducers({spawn}, {program, workload, sessions, encoding}) {
  const counted = {bytes: 0, events: 0};
  const options = encoding === undefined ? {} : {encoding};
  const terminals = Array.from({length: sessions}, () => {
    const terminal = spawn(program, [workload], options);
    terminal.onData((chunk) => {
      counted.bytes += chunk.length;
      counted.events++;
    });
    return terminal;
  });
  return {counted, terminals};
}

/** Output is ASCII, so the length of a string is its size in bytes. */
export async function output(pty, options) {
  const {counted, terminals} = startProducers(pty, options);
  await sleep(kWarmUpMs);
  const [bytes0, events0, cpu0, t0] = [counted.bytes, counted.events, cpuSeconds(), now()];
  await sleep(options.ms);
  const seconds = (now() - t0) / 1e3;
  const cpu = cpuSeconds() - cpu0;
  const gb = (counted.bytes - bytes0) / 1e9;
  const events = counted.events - events0;
  await Promise.all(terminals.map(end));
  return {
    mbps: (gb * 1e3) / seconds,
    cpu_s_per_gb: cpu / gb,
    events_per_gb: events / gb,
  };
}

/** A run of its own, because the meter costs a little in every turn of the loop. */
export async function lag(pty, options) {
  const {terminals} = startProducers(pty, options);
  await sleep(kWarmUpMs);
  const meter = new TurnMeter();
  const histogram = delayHistogram();
  for (const terminal of terminals) terminal.onData(() => meter.busy());
  await sleep(options.ms);
  meter.stop();
  histogram.stop();
  await Promise.all(terminals.map(end));
  return {
    wait_p99_ms: meter.waitPercentile(0.99),
    longest_ms: meter.longest(),
    delay_p99_ms: histogram.percentile(0.99),
  };
}
