// What the kernel says about processes. Used by tests and, inside fresh node processes, by their bodies: no Jest here.
import * as fs from 'node:fs';

/** Long enough for any machine: reaching it is a failure, never a measurement. */
const patienceMs = 30_000;

function lines(file: string): string[] {
  return fs.readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
}

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
export function children(pid: number = process.pid): number[] {
  const found: number[] = [];
  for (const entry of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (stat(Number(entry)).ppid === pid) found.push(Number(entry));
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

export function openFds(pid: number | 'self' = 'self'): number[] {
  return fs
    .readdirSync(`/proc/${pid}/fd`)
    .filter((fd) => {
      try {
        fs.readlinkSync(`/proc/${pid}/fd/${fd}`);
        return true;
      } catch {
        return false; // the descriptor of this very listing
      }
    })
    .map(Number)
    .sort((a, b) => a - b);
}

/** Threads of this process without those that were joined and are still on their way out. */
export function threads(): number {
  const exiting = 0x4; // PF_EXITING
  return fs.readdirSync('/proc/self/task').filter((tid) => {
    try {
      const text = fs.readFileSync(`/proc/self/task/${tid}/stat`, 'utf8');
      const flags = text.slice(text.lastIndexOf(')') + 2).split(' ')[6];
      return (Number(flags) & exiting) === 0;
    } catch {
      return false;
    }
  }).length;
}

export interface Stat {
  state: string;
  ppid: number;
  pgrp: number;
  session: number;
  tty: number;
  foreground: number;
}

export function stat(pid: number): Stat {
  const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgrp, session, tty, foreground] = fields as [string, string, string, string, string, string];
  return {
    state,
    ppid: Number(ppid),
    pgrp: Number(pgrp),
    session: Number(session),
    tty: Number(tty),
    foreground: Number(foreground),
  };
}

/** A field of /proc/<pid>/status, e.g. SigIgn. */
export function status(pid: number, field: string): string {
  const line = lines(`/proc/${pid}/status`).find((candidate) => candidate.startsWith(`${field}:`));
  if (line === undefined) throw new Error(`no ${field} in /proc/${pid}/status`);
  return line.slice(field.length + 1).trim();
}

/** False also for a zombie: it runs nothing any more. */
export function isRunning(pid: number): boolean {
  try {
    return stat(pid).state !== 'Z';
  } catch {
    return false;
  }
}
