// The figures, their parameters (full and quick), and the bars that ours has to meet.
//   bar.nodePty   limit for the ratio ours / node-pty        bar.ceiling  limit for the ratio ours / C program
//   bar.value     limit for our value itself
// `against` names the ceiling where it is no C program.
// `better` says on which side of the limit the good is. The ceiling is the C program of the same figure.
import {program} from './programs.mjs';

const lower = 'lower';
const higher = 'higher';

const ms = (key, label, bar) => ({key, label, unit: 'ms', better: lower, bar});
const cpu = (bar) => ({key: 'cpu_s_per_gb', label: 'host CPU', unit: 's/GB', better: lower, bar});
const speed = (bar) => ({key: 'mbps', label: 'throughput', unit: 'MB/s', better: higher, bar});

function spawn(id, title, heap, limit) {
  return {
    id, title, figure: 'spawn', ceiling: 'c-keeper',
    full: {heap, count: 40, gap: 5}, quick: {heap, count: 12, gap: 3},
    metrics: [
      ms('call_p50_ms', 'call p50', {nodePty: limit}), ms('pid_p50_ms', 'call and pid p50'), ms('call_p95_ms', 'call p95'),
      ms('exit_p50_ms', 'to exit p50', {nodePty: limit}), ms('exit_p95_ms', 'to exit p95'),
    ],
  };
}

function output(workload, sessions, ceiling, extra = {}) {
  const many = sessions > 1;
  const parameters = {program: program('producer'), workload, sessions, ...extra};
  const type = 'encoding' in extra ? ', Buffers' : '';
  return {
    id: many ? `output-${sessions}` : `output-${workload}${type ? '-buffers' : ''}`,
    title: `output, ${workload}${many ? `, ${sessions} sessions` : ''}${type}`,
    figure: 'output', ceiling,
    full: {...parameters, ms: 1500}, quick: {...parameters, ms: 350},
    metrics: [
      speed({nodePty: 1.0, ceiling: 0.9}), cpu({nodePty: 0.6}),
      {key: 'events_per_gb', label: 'data events', unit: '/GB', better: lower, bar: {nodePty: 0.25}},
    ],
  };
}

function lag(workload) {
  const parameters = {program: program('producer'), workload, sessions: 1};
  return {
    id: `lag-${workload}`, title: `event-loop lag under output, ${workload}`, figure: 'lag',
    full: {...parameters, ms: 1000}, quick: {...parameters, ms: 300},
    metrics: [
      ms('wait_p99_ms', 'wait p99', {nodePty: 0.5}), ms('longest_ms', 'longest turn'),
      ms('delay_p99_ms', 'timer delay p99'),
    ],
  };
}

function input(id, title, block, type, limit) {
  const parameters = {program: program('sink'), block, type};
  return {
    id, title, figure: 'input', ceiling: 'c',
    full: {...parameters, bytes: 20e6}, quick: {...parameters, bytes: 8e6},
    metrics: [
      speed({nodePty: limit}), cpu({nodePty: 0.4}), ms('calls_ms', 'time in write()', {nodePty: 0.2}),
      ms('longest_call_ms', 'longest write()'), ms('longest_delay_ms', 'longest timer delay'),
    ],
  };
}

function echo(id, title, bytes, gap) {
  return {
    id, title, figure: 'echo', ceiling: 'c',
    full: {bytes, gap, count: gap ? 150 : 500}, quick: {bytes, gap, count: gap ? 30 : 200},
    metrics: [ms('p50_ms', 'p50', {nodePty: 1.0}), ms('p95_ms', 'p95', {nodePty: 1.0})],
  };
}

function confinedSpawn(id, title, heap, limit) {
  return {
    id, title, figure: 'confinedSpawn',
    full: {heap, count: 40, gap: 5}, quick: {heap, count: 12, gap: 3},
    metrics: [ms('call_p50_ms', 'call p50', {nodePty: limit}), ms('exit_p50_ms', 'to exit p50'), ms('exit_p95_ms', 'to exit p95')],
  };
}

function confinedExit(id, figure, against, limit) {
  return {
    id, title: `confined /bin/true, to exit, against ${against}`, figure, ceiling: against, against,
    full: {heap: 0, count: 30, gap: 5}, quick: {heap: 0, count: 8, gap: 3},
    metrics: [ms('exit_p50_ms', 'to exit p50', {ceiling: limit}), ms('exit_p95_ms', 'to exit p95')],
  };
}

function work(id, title, full, quick = full) {
  return {
    id, title: `${title}, confined`, figure: 'work', ceiling: 'outside', against: 'outside', full, quick,
    metrics: [ms('p50_ms', 'p50', {ceiling: 1.05})],
  };
}

/** Clients whose every connect goes through the gate. There is no aim for these: they are to be seen. */
function fetching(id, title, command, [full, quick]) {
  const parameters = {tree: 'clients', command};
  return {
    id, title: `${title}, confined`, figure: 'fetching', ceiling: 'outside', against: 'outside',
    full: {...parameters, repeat: full}, quick: {...parameters, repeat: quick},
    metrics: [ms('p50_ms', 'p50')],
  };
}

/** The same for somebody without privileges, where the rest is measured by root, whose sessions need more rules. */
const asUser = (figure) => ({...figure, id: `${figure.id}-user`, title: `${figure.title}, without privileges`, asUser: true});

const us = (key, label, bar) => ({key, label, unit: 'us', better: lower, bar});

/** What a sandbox costs; the last part of the list, so that the figures before it stay comparable with older runs. */
const confinedStarts = [
  confinedSpawn('confine-spawn', 'confined spawn of /bin/true, small heap; node-pty: unconfined', 0, 1.3),
  confinedSpawn('confine-spawn-1g', 'confined spawn of /bin/true, 1 GiB heap; node-pty: unconfined', 1024, 0.1),
  confinedExit('confine-bwrap', 'confinedExit', 'bwrap', 0.5),
];
const confinement = [
  ...confinedStarts,
  ...(process.getuid?.() === 0 ? confinedStarts.map(asUser) : []),
  confinedExit('confine-srt', 'confinedExitSrt', 'srt', 0.02),
  work('confine-git', 'git status in 20 000 files', {tree: 'repository', command: 'git status', repeat: 10},
    {tree: 'repository', command: 'git status', repeat: 3}),
  work('confine-find', 'find in 20 000 files', {tree: 'repository', command: "find . -type f -name '*.c'", repeat: 10},
    {tree: 'repository', command: "find . -type f -name '*.c'", repeat: 3}),
  work('confine-compile', 'compiling 200 C files', {tree: 'compile-200', command: 'make -s clean && make -s -j2', repeat: 1},
    {tree: 'compile-20', command: 'make -s clean && make -s -j2', repeat: 1}),
  fetching('confine-curl', 'curl, 10 times', 'for n in 0 1 2 3 4 5 6 7 8 9; do curl -sSf SERVER/pool.js; done', [10, 3]),
  fetching('confine-clone', 'git clone over HTTP, of plain files', 'rm -rf copy && git clone -q SERVER/served.git copy', [5, 2]),
  fetching('confine-npm', 'npm ping', 'npm_config_cache=$PWD/cache npm_config_update_notifier=false npm ping --silent --registry SERVER/pool.js?', [5, 2]),
  fetching('confine-pool', '1000 requests of node, 20 connections at a time', 'node pool.js SERVER/pool.js 1000', [5, 2]),
  {
    id: 'confine-connect', title: 'connect(2) through the gate', figure: 'connect',
    full: {program: program('gate_connect'), count: 2000, turns: 3}, quick: {program: program('gate_connect'), count: 500, turns: 1},
    metrics: [
      us('unix_us_added', 'UNIX, added', {value: 100}), us('unix_us_inside', 'UNIX, inside'), us('unix_us_outside', 'UNIX, outside'),
      us('tcp_us_added', 'TCP, added'), us('tcp_us_inside', 'TCP, inside'), us('tcp_us_outside', 'TCP, outside'),
    ],
  },
];

function dispose(id, title, crowd, [full, quick], limits) {
  const parameters = {program: program('crowd'), ...crowd};
  return {
    id, title, figure: 'dispose', ceiling: 'c', against: 'cgroup.kill',
    full: {...parameters, count: full}, quick: {...parameters, count: quick},
    metrics: [
      ms('p50_ms', 'p50', limits), ms('p95_ms', 'p95'),
      ms('blocked_ms', 'loop blocked, worst', limits.value && {value: 1}), ms('delayed_ms', 'the same with garbage and waiting'),
    ],
  };
}

export const figures = [
  spawn('spawn', 'spawn of /bin/true, small heap', 0, 1.0),
  spawn('spawn-1g', 'spawn of /bin/true, 1 GiB heap', 1024, 0.1),
  {
    id: 'burst', title: 'burst of 100 spawns', figure: 'burst', ceiling: 'c-keeper',
    full: {count: 100}, quick: {count: 100},
    metrics: [
      ms('blocked_ms', 'loop blocked', {nodePty: 0.5}), ms('calls_ms', 'time in spawn()'),
      ms('all_exited_ms', 'all exited'),
    ],
  },
  output('plain', 1, 'c'),
  output('yes', 1, 'c'),
  output('lines', 1, 'c'),
  output('plain', 1, 'c', {encoding: null}),
  // One thread reads all sessions in c-epoll, as in ours; c has a thread for each.
  output('lines', 8, 'c-epoll'),
  lag('plain'),
  lag('yes'),
  lag('lines'),
  input('input-one', 'input, one write (Buffer)', 0, 'buffer', 1.0),
  input('input-4k', 'input, 4 KiB writes (Buffer)', 4096, 'buffer', 2.0),
  input('input-one-string', 'input, one write (string)', 0, 'string', 1.0),
  input('input-4k-string', 'input, 4 KiB writes (string)', 4096, 'string', 2.0),
  echo('echo-1', 'echo, 1 byte, back to back', 1, 0),
  echo('echo-80', 'echo, 80 bytes, back to back', 80, 0),
  echo('echo-typed', 'echo, 1 byte every 5 ms', 1, 5),
  {
    id: 'kill', title: 'SIGKILL to exit event', figure: 'kill', ceiling: 'c',
    full: {count: 40}, quick: {count: 10},
    metrics: [ms('p50_ms', 'p50', {nodePty: 1.0}), ms('p95_ms', 'p95')],
  },
  {
    id: 'idle', title: '100 idle sessions, per session', figure: 'idle',
    full: {sessions: 100, ms: 1000}, quick: {sessions: 100, ms: 200},
    metrics: [
      {key: 'threads', label: 'host threads', unit: '', better: lower, bar: {value: 0.05}},
      {key: 'helper_pss_kib', label: 'helper PSS', unit: 'KiB', better: lower, bar: {value: 200}},
      {key: 'helpers', label: 'helper processes', unit: '', better: lower},
      {key: 'rss_kib', label: 'host RSS', unit: 'KiB', better: lower},
      {key: 'private_kib', label: 'host private memory', unit: 'KiB', better: lower},
      {key: 'descriptors', label: 'host descriptors', unit: '', better: lower},
      {key: 'cpu_percent', label: 'host CPU, all sessions', unit: '%', better: lower},
    ],
  },
];

figures.push(...confinement);
figures.push(
  dispose('dispose', 'dispose of an idle shell', {kind: 'shell'}, [40, 15], {value: 3}),
  dispose('dispose-hoppers', 'dispose of 200 processes that fork and exit', {kind: 'hoppers', n: 200}, [8, 4], {ceiling: 2}),
  dispose('dispose-1000', 'dispose of 1000 idle processes', {kind: 'idle', n: 1000}, [8, 4], {ceiling: 2}),
  {
    id: 'dispose-many', title: 'a hundred disposals at once, and fs calls meanwhile', figure: 'disposeMany',
    full: {sessions: 100, count: 5}, quick: {sessions: 100, count: 2},
    metrics: [
      ms('all_ms', 'all disposed'), ms('fs_before_ms', 'fs call before'), ms('fs_during_ms', 'fs call meanwhile'),
      {key: 'fs_ratio', label: 'meanwhile / before', unit: '', better: lower}, ms('fs_worst_ms', 'fs call meanwhile, worst'),
    ],
  },
  {
    id: 'list', title: 'listProcesses() of 200', figure: 'list', ceiling: 'c',
    full: {program: program('crowd'), kind: 'idle', n: 200, count: 100}, quick: {program: program('crowd'), kind: 'idle', n: 200, count: 30},
    metrics: [ms('p50_ms', 'p50', {value: 2}), ms('p95_ms', 'p95'), ms('first_ms', 'the first')],
  },
  {
    id: 'settings', title: 'settings with 40 paths', figure: 'settings',
    full: {count: 500}, quick: {count: 100},
    metrics: [
      ms('first_p50_ms', 'first spawn p50', {value: 1}), ms('first_p95_ms', 'first spawn p95'),
      ms('next_p50_ms', 'next spawn p50', {value: 1}), ms('cached_p50_ms', 'settings alone, known'),
    ],
  },
);

/** Figures whose id is one of `only` (comma-separated) or begins with it: `output` chooses every output figure. */
export function select(only) {
  if (only === undefined) return figures;
  const wanted = only.split(',');
  const chosen = figures.filter(({id}) => wanted.some((w) => id === w || id.startsWith(`${w}-`)));
  if (chosen.length === 0) throw new Error(`no figure ${only}; there are ${figures.map((f) => f.id).join(', ')}`);
  return chosen;
}
