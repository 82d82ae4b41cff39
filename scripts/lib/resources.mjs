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

const mountPoint = () => text('/proc/self/mountinfo').split('\n').find((line) => line.includes(' - cgroup2 '))?.split(' ')[4];

/** Where this process is in the unified hierarchy; undefined if there is none. */
export function ownCgroup() {
  const mount = mountPoint();
  const own = text('/proc/self/cgroup').split('\n').find((line) => line.startsWith('0::'))?.slice(3);
  return mount === undefined || own === undefined ? undefined : join(mount, own);
}

/** Names of the cgroups that the sessions of a host have now. */
export function leaves(host) {
  const mount = mountPoint();
  const found = [];
  for (let at = ownCgroup(); at?.startsWith(mount); at = dirname(at)) found.push(...entries(at));
  return found.filter((name) => belongsTo(name, host));
}

/** Names of the private temporary directories, likewise. */
export const temporaries = (host) => entries(tmpdir()).filter((name) => belongsTo(name, host));

const belongsTo = (name, host) => name.startsWith(`sandboxed-pty-${host}-`);

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

/** One row for each thing that is held: what may be more, and what is. */
export function differences(before, after) {
  const leaks = leaksIn(before, after);
  const number = (n) => n.toLocaleString('en-US');
  return Object.keys(before).map((key) => ({
    name: key, met: !leaks.includes(key),
    bar: `<= ${number(before[key] + (key === 'resident bytes' ? allowedGrowthBytes : 0))}`, found: number(after[key]),
  }));
}
