// Clocks and meters used inside the measured process.
import {monitorEventLoopDelay, performance} from 'node:perf_hooks';

export const now = () => performance.now();
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The value below which the share `p` of `values` lies. */
export function percentile(values, p) {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.round(p * (sorted.length - 1)))];
}

/** CPU seconds of this process, all threads. */
export function cpuSeconds() {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * How long an event that arrives at a random moment waits for the loop, by timing every turn of a loop kept busy with
 * setImmediate. A turn of length L delays what arrives during it by 0..L, so the share of arrivals delayed by more than
 * x is sum(max(0, L - x)) / sum(L). It occupies one core: never use it in a measurement of CPU or throughput.
 */
export class TurnMeter {
  #turns = [];
  #last = 0;
  #running = false;

  start() {
    this.#running = true;
    this.#last = now();
    const turn = () => {
      const t = now();
      this.#turns.push(t - this.#last);
      this.#last = t;
      if (this.#running) setImmediate(turn);
    };
    setImmediate(turn);
  }

  stop() {
    this.#running = false;
  }

  longest() {
    return this.#turns.reduce((a, b) => Math.max(a, b), 0);
  }

  waitPercentile(p) {
    const turns = Float64Array.from(this.#turns).sort();
    const total = turns.reduce((a, b) => a + b, 0);
    const allowed = total * (1 - p);
    let above = 0;  // sum of the turns longer than the current one
    for (let i = turns.length - 1; i >= 0; i--) {
      const count = turns.length - 1 - i;
      // With x between turns[i] and turns[i + 1], the delayed share is above - count * x.
      if (above - count * turns[i] >= allowed) return (above - allowed) / count;
      above += turns[i];
    }
    return Math.max(0, (above - allowed) / turns.length);
  }
}

/** Node's own histogram of timer lateness, in ms. It costs next to nothing; its floor is about 1 ms. */
export function delayHistogram() {
  const histogram = monitorEventLoopDelay({resolution: 1});
  histogram.enable();
  return {
    stop: () => histogram.disable(),
    percentile: (p) => histogram.percentile(p * 100) / 1e6,
    max: () => histogram.max / 1e6,
  };
}
