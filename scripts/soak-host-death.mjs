// Kills hosts at moments chosen by chance, also while they start sessions, and looks for what they leave behind.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {Failure, root} from './lib/process.mjs';
import {leaves, ownCgroup, temporaries} from './lib/resources.mjs';

const longestLifeMs = 120;
const mostSessions = 20;
const patienceMs = 30_000;

/** The same sequence for the same seed. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function compileLingerer() {
  const directory = join(root, 'build', 'soak');
  mkdirSync(directory, {recursive: true});
  const program = join(directory, 'lingerer');
  execFileSync('cc', ['-std=gnu11', '-O1', '-o', program, join(root, 'test/js/linger/probes/lingerer.c')]);
  return program;
}

const attempt = (body) => {
  try {
    return body();
  } catch {
    return undefined; // it ended while we looked, or is not ours to look at
  }
};

/** A cgroup for one host: whoever descends from it is in there, or in a leaf below it. Undefined where none can be made. */
function makeCgroup(name) {
  const path = join(ownCgroup() ?? '/nonexistent', name);
  return attempt(() => {
    mkdirSync(path);
    // As good as none if we may not move into it.
    const moved = attempt(() => execFileSync('sh', ['-c', 'echo $$ > "$0/cgroup.procs"', path], {stdio: 'ignore'}));
    if (moved === undefined) rmdirSync(path);
    return moved === undefined ? undefined : path;
  });
}

const populated = (cgroup) => readFileSync(join(cgroup, 'cgroup.events'), 'utf8').includes('populated 1');
const inside = (cgroup) => readdirSync(cgroup, {withFileTypes: true}).filter((entry) => entry.isDirectory()).map(({name}) => name);

/**
 * Who bears the token, and keepers of this build that have lost their host: their parent is whoever adopts orphans, which
 * is no Node.js. The cgroup's own word, where there is one, misses nobody.
 */
function survivors(token, cgroup) {
  if (cgroup !== undefined && !populated(cgroup)) return [];
  const keeper = join(root, 'build', 'Release', 'sandboxed-pty-keeper');
  const exe = (pid) => attempt(() => readlinkSync(`/proc/${pid}/exe`));
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => attempt(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return false;
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(token)) return true;
    return exe(pid) === keeper && exe(parent) !== process.execPath;
  }));
  return found.length > 0 || cgroup === undefined ? found : ['somebody in the cgroup'];
}

function start(args, cgroup) {
  const node = [process.execPath, join(root, 'scripts', 'soak-host.mjs'), ...args];
  const [file, ...rest] = cgroup === undefined ? node : ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', cgroup, ...node];
  const child = spawn(file, rest, {stdio: ['ignore', 'pipe', 'inherit']});
  const ended = new Promise((resolve) => child.on('close', resolve));
  const loaded = new Promise((resolve) => child.stdout.once('data', resolve));
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  return {child, ended, loaded, isComplete: () => output.includes('all started')};
}

/** Looks until there is nothing. What was there when the time was over, and how long it took. */
async function watch(look, sinceMs, withinMs) {
  let late = {};
  for (;;) {
    const left = look();
    const elapsedMs = performance.now() - sinceMs;
    const isOver = Object.values(left).every((names) => names.length === 0);
    if (!isOver && elapsedMs > withinMs && Object.keys(late).length === 0) late = left;
    if (isOver || elapsedMs > Math.max(withinMs, patienceMs)) return {late, elapsedMs};
    await sleep(5);
  }
}

/** "pid (name) state", for those who have to find out why. */
function describe(pid) {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat === undefined ? pid : stat.slice(0, stat.lastIndexOf(')') + 3);
}

/** Ends and removes what was shown to be left, so that the next round starts from nothing. */
async function cleanUp(token, cgroup) {
  if (cgroup === undefined) return;
  const deadline = Date.now() + patienceMs;
  while (populated(cgroup) || inside(cgroup).length > 0) {
    if (Date.now() > deadline) throw new Failure(`${cgroup} (${token}) could not be emptied`);
    attempt(() => writeFileSync(join(cgroup, 'cgroup.kill'), '1'));
    for (const name of inside(cgroup)) attempt(() => rmdirSync(join(cgroup, name)));
    await sleep(10);
  }
  rmdirSync(cgroup);
}

async function killOneHost(token, sessions, lifeMs, withinMs, program, projectDir) {
  const cgroup = makeCgroup(token);
  try {
    const host = start([String(sessions), program, token, projectDir], cgroup);
    await Promise.race([host.loaded, host.ended.then(() => Promise.reject(new Failure('The host ended by itself')))]);
    await sleep(lifeMs);
    const killedAt = performance.now();
    host.child.kill('SIGKILL');
    await host.ended;
    const pid = host.child.pid;
    const look = () => ({
      survivors: survivors(token, cgroup).map(describe),
      cgroups: cgroup === undefined ? leaves(pid) : inside(cgroup),
      'temporary directories': temporaries(pid),
    });
    return {...await watch(look, killedAt, withinMs), whileStarting: !host.isComplete(), tracked: cgroup !== undefined};
  } finally {
    await cleanUp(token, cgroup);
  }
}

/** Rows of the final table. */
export async function soakHostDeath(rounds, {seed, withinMs}, onProgress) {
  const next = random(seed);
  const program = compileLingerer();
  const projectDir = mkdtempSync(join(tmpdir(), 'pty-soak-'));
  const total = {survivors: 0, cgroups: 0, 'temporary directories': 0};
  let [whileStarting, tracked, slowestMs] = [0, 0, 0];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const sessions = 1 + Math.floor(next() * mostSessions);
      const end = await killOneHost(`soak-${process.pid}-${round}`, sessions, next() * longestLifeMs, withinMs, program, projectDir);
      for (const [name, left] of Object.entries(end.late)) total[name] += left.length;
      if (Object.keys(end.late).length > 0) console.log(`host ${round}, ${sessions} sessions, over after ${Math.ceil(end.elapsedMs)} ms:`, end.late);
      whileStarting += end.whileStarting ? 1 : 0;
      tracked += end.tracked ? 1 : 0;
      slowestMs = Math.max(slowestMs, end.elapsedMs);
      onProgress(round + 1);
    }
  } finally {
    rmSync(projectDir, {recursive: true, force: true});
  }
  const told = (name, value) => ({name, bar: '', found: String(value), met: true});
  return [
    ...Object.entries(total).map(([name, count]) => ({name: `${name} after ${withinMs} ms`, bar: '0', found: String(count), met: count === 0})),
    told('killed while they started sessions', whileStarting),
    told("counted by a cgroup of the host's", tracked),
    told('slowest until nothing was left, ms', Math.ceil(slowestMs)),
  ];
}
