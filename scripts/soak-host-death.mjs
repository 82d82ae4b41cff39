// Kills hosts at moments chosen by chance, also while they start sessions, and looks for what they leave behind.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {root, Failure} from './lib/process.mjs';
import {leaves, temporaries} from './lib/resources.mjs';

const longestLifeMs = 120;
const patienceMs = 10_000;

/** The same sequence for the same seed. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function compileLingerer() {
  const directory = join(root, 'build', 'linger');
  mkdirSync(directory, {recursive: true});
  const program = join(directory, 'lingerer');
  execFileSync('cc', ['-std=gnu11', '-O1', '-o', program, join(root, 'test/js/linger/probes/lingerer.c')]);
  return program;
}

const attempt = (body) => {
  try {
    return body();
  } catch {
    return undefined; // it ended while we looked
  }
};

/** Who bears the token, and keepers of this build that have lost their host. */
function survivors(token) {
  const keeper = join(root, 'build', 'Release', 'sandboxed-pty-keeper');
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => attempt(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return false;
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(token)) return true;
    return parent === '1' && readlinkSync(`/proc/${pid}/exe`) === keeper;
  }));
}

function start(args) {
  const child = spawn(process.execPath, [join(root, 'scripts', 'soak-host.mjs'), ...args], {stdio: ['ignore', 'pipe', 'inherit']});
  const ended = new Promise((resolve) => child.on('close', resolve));
  const loaded = new Promise((resolve) => child.stdout.once('data', resolve));
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  return {child, ended, loaded, isComplete: () => output.includes('all started')};
}

async function waitFor(condition) {
  const deadline = Date.now() + patienceMs;
  while (!condition() && Date.now() < deadline) await sleep(10);
  return condition();
}

export async function soakHostDeath(rounds, seed, onProgress) {
  const next = random(seed);
  const program = compileLingerer();
  const projectDir = mkdtempSync(join(tmpdir(), 'pty-soak-'));
  const found = {processes: 0, 'cgroups, before the next host': 0, 'directories, before the next host': 0, 'killed while starting': 0};
  try {
    for (let round = 0; round < rounds; round += 1) {
      const token = `soak-${process.pid}-${round}`;
      const host = start([String(1 + Math.floor(next() * 20)), program, token, projectDir]);
      await host.loaded;
      await sleep(next() * longestLifeMs);
      host.child.kill('SIGKILL');
      await host.ended;
      if (!host.isComplete()) found['killed while starting'] += 1;
      if (!(await waitFor(() => survivors(token).length === 0))) found.processes += survivors(token).length;
      found['cgroups, before the next host'] += leaves(host.child.pid).length;
      found['directories, before the next host'] += temporaries(host.child.pid).length;
      onProgress(round + 1);
    }
    // A host that lives sweeps what the last one had no time to hand over.
    const last = start(['1', program, `soak-${process.pid}-last`, projectDir]);
    await waitFor(last.isComplete);
    const stale = () => ({cgroups: leaves().length, directories: temporaries().length});
    await waitFor(() => stale().directories === 0);
    const left = {processes: found.processes, ...stale()};
    last.child.kill('SIGKILL');
    await last.ended;
    await waitFor(() => survivors(`soak-${process.pid}-last`).length === 0);
    for (const [name, count] of Object.entries({...found, ...left})) console.log(`${name}: ${count}`);
    if (Object.values(left).some((count) => count > 0)) throw new Failure('Something was left behind');
    console.log('Nothing was left behind.');
  } finally {
    rmSync(projectDir, {recursive: true, force: true});
  }
}
