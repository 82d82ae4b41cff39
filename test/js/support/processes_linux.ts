// What /proc says about processes. No Jest here: see processes.ts.
import * as fs from 'node:fs';
import type { ProcessTable, Stat } from './processes';

function lines(file: string): string[] {
  return fs.readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
}

/** The fields of /proc/<pid>/stat after the name, from the state on. */
function statFields(pid: number): string[] {
  const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function pids(): number[] {
  return fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).map(Number);
}

/** Of those processes that do not end while we look, or belong to somebody else. */
function which(wanted: (pid: number) => boolean): number[] {
  return pids().filter((pid) => {
    try {
      return wanted(pid);
    } catch {
      return false;
    }
  });
}

function stat(pid: number): Stat {
  const [state, ppid, pgrp, session, tty, foreground] = statFields(pid) as [string, string, string, string, string, string];
  return {
    state,
    ppid: Number(ppid),
    pgrp: Number(pgrp),
    session: Number(session),
    tty: Number(tty),
    foreground: Number(foreground),
  };
}

export const processTable: ProcessTable = {
  stat,
  pids,
  children: (pid) => which((candidate) => stat(candidate).ppid === pid),
  startTime: (pid) => statFields(pid)[19] as string,
  commandLine: (pid) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'),

  openFds(pid) {
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
  },

  threads() {
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
  },

  holders: (file) =>
    which((pid) => fs.readdirSync(`/proc/${pid}/fd`).some((fd) => fs.readlinkSync(`/proc/${pid}/fd/${fd}`) === file)),

  status(pid, field) {
    const line = lines(`/proc/${pid}/status`).find((candidate) => candidate.startsWith(`${field}:`));
    if (line === undefined) throw new Error(`no ${field} in /proc/${pid}/status`);
    return line.slice(field.length + 1).trim();
  },
};
