import * as os from 'os';

import type { NativeSession } from './native-loader';

export interface DisposeOptions {
  /** Sent to the shell first, if `graceMs` is given. Default: SIGHUP, as a closed terminal sends it. */
  signal?: string | number;
  /** How long the shell may take to end by itself. Default: 0. */
  graceMs?: number;
  /** How long to wait for the proof that nobody is left. Default: 5000. The session is being ended all the same. */
  deadlineMs?: number;
}

export interface DisposeReport {
  /** Proven: no process of the session is left. */
  converged: boolean;
  rounds: number;
  /** Processes that ended meanwhile. */
  killed: number;
  survivors: { pid: number; name: string; state: string }[];
  elapsedMs: number;
  /** What did it: 'cgroup', 'landlock-scope', 'subreaper'; on macOS 'seatbelt-mark'. */
  mechanisms: string[];
  /** What else went wrong. */
  problem?: string;
}

/** What will end the session, and why it is not more. */
export interface Tracking {
  /**
   * 'cgroup', 'landlock-scope', 'subreaper'. The last one alone may take seconds to catch what forks all the time.
   * On macOS 'seatbelt-mark'.
   */
  mechanisms: readonly string[];
  /** Why the session has no cgroup of its own. */
  noCgroup?: string;
  /** macOS, where the session is not confined: whom the mark does not tell. */
  unmarked?: string;
}

export interface ProcessInfo {
  pid: number;
  ppid: number;
  startTime: Date;
  name: string;
  argv: string[];
  cpuSeconds: number;
  rssBytes: number;
}

const nothingLeft: DisposeReport = {
  converged: true,
  rounds: 0,
  killed: 0,
  survivors: [],
  elapsedMs: 0,
  mechanisms: [],
};

function milliseconds(name: string, value: number | undefined, fallback: number): number {
  const given = value ?? fallback;
  if (!(given >= 0 && given <= 0x7fffffff)) throw new RangeError(`${name} must be between 0 and 2147483647`);
  return Math.trunc(given);
}

function signalNumber(signal: string | number): number {
  const number = typeof signal === 'number' ? signal : os.constants.signals[signal as NodeJS.Signals];
  if (!Number.isInteger(number) || number < 1 || number > 64) throw new TypeError(`Unknown signal: ${signal}`);
  return number;
}

/** Of a report that proves nothing. */
export function whatIsLeft({ survivors, problem }: DisposeReport): string {
  const left = survivors.map(({ pid, name }) => `${name} (${pid})`).join(', ');
  const parts = [...(left === '' ? [] : [`left: ${left}`]), ...(problem === undefined ? [] : [problem])];
  return parts.length > 0 ? parts.join('; ') : 'nobody knows who is left';
}

const retryMs = 20;

/**
 * Ends every process of the session. Resolves with the report; throws for options that make no sense. Where no thread
 * can be created to watch the end (the session may have taken all there are), it has begun nevertheless, and watching
 * is tried again until the deadline; only then the promise is rejected.
 */
export function disposeSession(session: NativeSession, options: DisposeOptions = {}): Promise<DisposeReport> {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('dispose() takes an object: {signal, graceMs, deadlineMs}');
  const native = {
    signal: signalNumber(options.signal ?? 'SIGHUP'),
    graceMs: milliseconds('graceMs', options.graceMs, 0),
    deadlineMs: milliseconds('deadlineMs', options.deadlineMs, 5000),
  };
  const last = Date.now() + native.graceMs + native.deadlineMs;
  return new Promise((resolve, reject) => {
    const attempt = (): void => {
      try {
        const pending = session.dispose(native, (report) => resolve(JSON.parse(report) as DisposeReport));
        if (!pending) resolve({ ...nothingLeft, survivors: [], mechanisms: [] });
      } catch (error) {
        const failure = error as NodeJS.ErrnoException;
        if (failure.code !== 'EAGAIN' || Date.now() >= last) reject(failure);
        else setTimeout(attempt, retryMs);
      }
    };
    attempt();
  });
}

const ticksPerSecond = 100; // USER_HZ, the same on every Linux

interface NativeProcess {
  pid: number;
  ppid: number;
  startTicks: number;
  name: string;
  argv: string[];
  cpuTicks: number;
  rssBytes: number;
}

export function listSessionProcesses(session: NativeSession): ProcessInfo[] {
  const booted = Date.now() - os.uptime() * 1000;
  // Field by field: spreading what is left of each would take longer than asking the kernel for it.
  return (JSON.parse(session.listProcesses()) as NativeProcess[]).map((process) => ({
    pid: process.pid,
    ppid: process.ppid,
    startTime: new Date(booted + (process.startTicks / ticksPerSecond) * 1000),
    name: process.name,
    argv: process.argv,
    cpuSeconds: process.cpuTicks / ticksPerSecond,
    rssBytes: process.rssBytes,
  }));
}
