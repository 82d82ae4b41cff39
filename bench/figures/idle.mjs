// What sessions cost that do nothing: threads, descriptors, memory and CPU of the host, memory of helper processes.
import {readdirSync, readFileSync} from 'node:fs';
import {cpuSeconds, sleep} from '../lib/meters.mjs';
import {end, seen} from '../lib/sessions.mjs';

/** One field of a /proc file with `Name: value kB` lines, in KiB. */
function field(path, name) {
  const match = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(path, 'utf8'));
  return match ? Number(match[1]) : 0;
}

function host() {
  return {
    threads: readdirSync('/proc/self/task').length,
    descriptors: readdirSync('/proc/self/fd').length,
    rss: field('/proc/self/status', 'VmRSS'),
    private: field('/proc/self/smaps_rollup', 'Private_Clean') + field('/proc/self/smaps_rollup', 'Private_Dirty'),
  };
}

/** PSS in KiB of the descendants of this process that are not in `shells`. */
function helpers(shells) {
  const found = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!pid || shells.has(pid)) continue;
    try {
      if (field(`/proc/${pid}/status`, 'PPid') === process.pid) found.push(field(`/proc/${pid}/smaps_rollup`, 'Pss'));
    } catch {
      // It ended meanwhile.
    }
  }
  return {count: found.length, pss: found.reduce((a, b) => a + b, 0)};
}

async function startIdle({spawn}) {
  const terminal = spawn('/bin/sh', ['-c', 'printf R; exec sleep 1000'], {});
  await seen(terminal, 'R');
  return terminal;
}

const settle = async () => {
  globalThis.gc?.();
  await sleep(200);
};

export async function idle(pty, {sessions, ms}) {
  await end(await startIdle(pty));
  await settle();
  const before = host();
  const terminals = [];
  for (let i = 0; i < sessions; i++) terminals.push(await startIdle(pty));
  await settle();
  const after = host();
  const helper = helpers(new Set(terminals.map((t) => t.pid)));
  const cpu0 = cpuSeconds();
  await sleep(ms);
  const cpu = cpuSeconds() - cpu0;
  await Promise.all(terminals.map(end));
  const each = (name) => (after[name] - before[name]) / sessions;
  return {
    threads: each('threads'),
    descriptors: each('descriptors'),
    rss_kib: each('rss'),
    private_kib: each('private'),
    helpers: helper.count / sessions,
    helper_pss_kib: helper.count > 0 ? helper.pss / helper.count : 0,
    cpu_percent: (cpu * 1e5) / ms,
  };
}
