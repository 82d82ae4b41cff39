// What a process holds: descriptors, threads, memory, and processes that it or its sessions started.
import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';

/** The allocator and V8 keep some of what they were given; a leak of one page per session would be 40 MiB in 10 000. */
const allowedGrowthBytes = 16 * 1024 * 1024;

const entries = (dir) => {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
};
const text = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Our descendants, and every process that carries our mark in its environment, whoever its parent is now. */
function countProcesses() {
  const mark = `SPTY_SOAK=${process.env.SPTY_SOAK}\0`;
  const parents = new Map();
  const found = new Set();
  for (const name of entries('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const pid = Number(name);
    const stat = text(`/proc/${name}/stat`);
    // The name in parentheses may itself contain spaces and parentheses.
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    if (process.env.SPTY_SOAK && text(`/proc/${name}/environ`).includes(mark)) found.add(pid);
  }
  for (const pid of parents.keys()) {
    for (let up = parents.get(pid); up > 1; up = parents.get(up) ?? 0) if (up === process.pid) found.add(pid);
  }
  found.delete(process.pid);
  return found.size;
}

function openTerminals() {
  return entries('/proc/self/fd').filter((fd) => {
    try {
      return /^\/dev\/(ptmx|pts\/)/.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;
}

/** Names of the cgroups that sessions have now: those of one host, or of this process and of those that are dead. */
export function leaves(host) {
  const mount = text('/proc/self/mountinfo').split('\n').find((line) => line.includes(' - cgroup2 '))?.split(' ')[4];
  const own = text('/proc/self/cgroup').split('\n').find((line) => line.startsWith('0::'))?.slice(3);
  if (mount === undefined || own === undefined) return [];
  const found = [];
  for (let at = join(mount, own); at.startsWith(mount); at = dirname(at)) found.push(...entries(at));
  return found.filter((name) => belongsTo(name, host));
}

/** Names of the private temporary directories, likewise. */
export const temporaries = (host) => entries(tmpdir()).filter((name) => belongsTo(name, host));

function belongsTo(name, host) {
  const pid = /^sandboxed-pty-(\d+)-/.exec(name)?.[1];
  if (pid === undefined) return false;
  if (host !== undefined) return Number(pid) === host;
  return Number(pid) === process.pid || text(`/proc/${pid}/stat`) === '';
}

/** Without the pages that V8 keeps for new objects: it takes tens of megabytes more of them in a long run, and uses none. */
function residentBytes() {
  const {rss, heapTotal, heapUsed} = process.memoryUsage();
  return rss - (heapTotal - heapUsed);
}

export function measure() {
  globalThis.gc?.();
  return {
    descriptors: entries('/proc/self/fd').length,
    'of these terminals': openTerminals(),
    threads: entries('/proc/self/task').length,
    processes: countProcesses(),
    cgroups: leaves(process.pid).length,
    'temporary directories': temporaries(process.pid).length,
    'resident bytes': residentBytes(),
  };
}

const leaksIn = (before, after) => Object.keys(before).filter((key) =>
  after[key] > before[key] + (key === 'resident bytes' ? allowedGrowthBytes : 0));

/** Waits for what ends by itself (a process that is about to exit), at most five seconds. */
export async function settle(before) {
  for (let i = 0; i < 50; i += 1) {
    await sleep(100);
    if (before ? leaksIn(before, measure()).length === 0 : measure().processes === 0) return;
  }
}

export function table(before, after) {
  const rows = Object.keys(before).map((key) =>
    [key, ...[before[key], after[key], after[key] - before[key]].map((n) => n.toLocaleString('en-US'))]);
  const all = [['', 'before', 'after', 'difference'], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const lines = all.map((row) => row.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  '));
  return {text: lines.join('\n'), leaks: leaksIn(before, after)};
}
