// Clocks and meters used inside the measured process.
import {readFileSync} from 'node:fs';
import {monitorEventLoopDelay, performance, PerformanceObserver} from 'node:perf_hooks';

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

/** For how long the thread of the event loop has been ready to run and had no processor, in ms; 0 where the kernel does not count it. */
export function waitedForProcessor() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Collections of garbage from now on. Node tells of them later: ask for those of a while when it has been over for some time. */
export class CollectionMeter {
  #seen = [];
  #observer = new PerformanceObserver((list) => this.#seen.push(...list.getEntries()));

  constructor() {
    this.#observer.observe({entryTypes: ['gc']});
  }

  stop() {
    this.#observer.disconnect();
  }

  between(t0, t1) {
    return this.#seen.filter(({startTime}) => startTime >= t0 && startTime <= t1).reduce((sum, {duration}) => sum + duration, 0);
  }
}

/**
 * How long an event that arrives at a random moment waits for the loop. Call `busy()` in every callback: the time from
 * the first one to the end of the same turn (setImmediate) is a turn of length L, which delays what arrives during it by
 * 0..L; what arrives while the loop sleeps does not wait. So the share of arrivals delayed by more than x is
 * sum(max(0, L - x)) / observed time. Unlike a loop kept spinning, this takes no core away from what it measures.
 */
export class TurnMeter {
  #turns = [];
  #started = now();
  #stopped = 0;
  #inTurn = false;

  busy() {
    if (this.#inTurn || this.#stopped > 0) return;
    this.#inTurn = true;
    const t0 = now();
    setImmediate(() => {
      this.#turns.push(now() - t0);
      this.#inTurn = false;
    });
  }

  stop() {
    this.#stopped = now();
  }

  longest() {
    return this.#turns.reduce((a, b) => Math.max(a, b), 0);
  }

  waitPercentile(p) {
    const turns = Float64Array.from(this.#turns).sort();
    const allowed = (this.#stopped - this.#started) * (1 - p);
    let above = 0;  // sum of the turns longer than the current one
    for (let i = turns.length - 1; i >= 0; i--) {
      const count = turns.length - 1 - i;
      // With x between turns[i] and turns[i + 1], above - count * x of the time delays arrivals by more than x.
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
