// What the kernel says about processes. Used by tests and, inside fresh node processes, by their bodies: no Jest here.
// How it is asked is in processes_linux.ts and processes_macos.ts.

export interface Stat {
  /** R, S, T, Z ... */
  state: string;
  ppid: number;
  pgrp: number;
  foreground: number;
  /** Linux only. */
  session?: number;
  tty?: number;
}

export interface ProcessTable {
  /** Throws if there is no such process, as all that take a pid do. */
  stat(pid: number): Stat;
  pids(): number[];
  children(pid: number): number[];
  /** Equal for one process, whatever the text means. */
  startTime(pid: number): string;
  commandLine(pid: number): string[];
  openFds(pid: number | 'self'): number[];
  threads(): number;
  /** Who has this file open, as far as we may know. */
  holders(file: string): number[];
  status(pid: number, field: string): string;
}

const { processTable } = require(process.platform === 'darwin' ? './processes_macos' : './processes_linux') as {
  processTable: ProcessTable;
};

/** Long enough for any machine: reaching it is a failure, never a measurement. */
const patienceMs = 30_000;

/** Polls a condition; the only way in which tests wait for something that sends no event. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`gave up waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function within<T>(what: string, promise: Promise<T>, describe: () => string = () => '', patience = patienceMs): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`gave up waiting for ${what} ${describe()}`)), patience);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Direct children of a process, zombies included. */
export const children = (pid: number = process.pid): number[] => processTable.children(pid);

export const openFds = (pid: number | 'self' = 'self'): number[] => processTable.openFds(pid);

/** Threads of this process without those that were joined and are still on their way out. */
export const threads = (): number => processTable.threads();

export const { stat, pids, startTime, commandLine, holders } = processTable;

/** A field of /proc/<pid>/status, e.g. SigIgn. */
export const { status } = processTable;

/** False also for a zombie: it runs nothing any more. */
export function isRunning(pid: number): boolean {
  try {
    return !['Z', 'X'].includes(stat(pid).state);
  } catch {
    return false;
  }
}
