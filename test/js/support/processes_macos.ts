// What ps(1) and lsof(8) say about processes, where there is no /proc. No Jest here: see processes.ts.
// Written after their documented output; processes.test.ts runs it on Linux, whose ps and lsof take the same arguments.
// Never run on a Mac.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import type { ProcessTable, Stat } from './processes';

export interface Row {
  pid: number;
  ppid: number;
  pgrp: number;
  foreground: number;
  state: string;
  started: string;
  command: string;
}

// "=" leaves the heading out. lstart has five words, and the command, which may have any number, comes last.
const columns = ['pid', 'ppid', 'pgid', 'tpgid', 'state', 'lstart', 'command'].map((name) => `-o${name}=`);
const row = /^\s*(\d+)\s+(\d+)\s+(-?\d+)\s+(-?\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)(?:\s+(.*))?$/;

export function parsePs(text: string): Row[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const match = row.exec(line);
      if (match === null) throw new Error(`ps printed what is no row: ${line}`);
      const [, pid, ppid, pgrp, foreground, state, started, command] = match as unknown as string[];
      return {
        pid: Number(pid),
        ppid: Number(ppid),
        pgrp: Number(pgrp),
        foreground: Number(foreground),
        // What follows the first letter is about priorities, sessions and groups.
        state: (state as string).slice(0, 1),
        started: (started as string).replace(/\s+/g, ' '),
        command: command ?? '',
      };
    });
}

/** The descriptors in the output of `lsof -Ff`: a line for each, "f" and its number; other letters are other things. */
export function parseLsofDescriptors(text: string): number[] {
  const found = [...text.matchAll(/^f(\d+)$/gm)].map(([, fd]) => Number(fd));
  return [...new Set(found)].sort((a, b) => a - b);
}

/** What a program prints, in no language but C's, and its own number: it is a child of ours while it looks. */
function ask(program: string, args: string[]): { text: string; asker: number } {
  const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' };
  const { stdout, pid, error } = spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024 });
  if (error !== undefined) throw error;
  return { text: stdout, asker: pid };
}

function rows(...selection: string[]): Row[] {
  const { text, asker } = ask('ps', [...selection, '-ww', ...columns]);
  return parsePs(text).filter(({ pid }) => pid !== asker);
}

const everybody = '-ax';

function rowOf(pid: number): Row {
  const [found] = rows('-p', String(pid));
  if (found === undefined) throw new Error(`no process ${pid}`);
  return found;
}

function stat(pid: number): Stat {
  const { state, ppid, pgrp, foreground } = rowOf(pid);
  return { state, ppid, pgrp, foreground };
}

export const processTable: ProcessTable = {
  stat,
  pids: () => rows(everybody).map(({ pid }) => pid),
  children: (parent) => rows(everybody).filter(({ ppid }) => ppid === parent).map(({ pid }) => pid),
  startTime: (pid) => rowOf(pid).started,
  // Where one argument ends and the next begins is lost.
  commandLine: (pid) => rowOf(pid).command.split(' '),

  openFds(pid) {
    if (pid !== 'self') return parseLsofDescriptors(ask('lsof', ['-n', '-P', '-p', String(pid), '-Ff']).text);
    return fs
      .readdirSync('/dev/fd')
      .map(Number)
      .filter((fd) => {
        try {
          fs.fstatSync(fd);
          return true;
        } catch {
          return false; // the descriptor of this very listing
        }
      })
      .sort((a, b) => a - b);
  },

  /** `ps -M` has a heading and a line for each thread. */
  threads: () => ask('ps', ['-M', '-p', String(process.pid)]).text.trimEnd().split('\n').length - 1,

  holders: (file) => ask('lsof', ['-t', '--', file]).text.split('\n').filter((line) => line !== '').map(Number),

  status: (_pid, field) => {
    throw new Error(`${field} is something that only Linux tells: the case needs Linux`);
  },
};
