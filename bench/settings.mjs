// How long settings take per spawn: 40 paths of the user on top of the defaults, look-ups included. The bar is 1 ms.
// On a busy machine the processor time says more than the clock.
//   node bench/settings.mjs [rounds]
import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';

const require = createRequire(import.meta.url);
const {resolveSettings} = require('../dist/settings.js');
const {resolvePolicy} = require('../dist/policy.js');

const rounds = Number(process.argv[2] ?? 2000);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'spty-bench-')));
try {
  const home = join(root, 'home');
  const projectDir = join(home, 'project');
  const names = Array.from({length: 40}, (_, index) => `tools/${index}/bin`);
  for (const name of ['project/.git/objects', '.config/gh', '.ssh', ...names]) mkdirSync(join(home, name), {recursive: true});
  const user = {
    enabled: true,
    additional_executable_paths: names.slice(0, 15).map((name) => `~/${name}`),
    additional_read_only_paths: names.slice(15, 30).map((name) => `~/${name}`),
    additional_read_write_paths: names.slice(30).map((name) => `$HOME/${name}`),
  };
  const measure = (label, run) => {
    const times = [];
    const before = process.cpuUsage();
    for (let round = 0; round < rounds; round += 1) {
      const start = process.hrtime.bigint();
      run(round);
      times.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    const cpu = process.cpuUsage(before);
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.floor(times.length * share)].toFixed(3);
    const used = ((cpu.user + cpu.system) / rounds / 1e3).toFixed(3);
    console.log(`${label}: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms; processor ${used} ms`);
  };
  console.log(`load ${loadavg()[0].toFixed(2)}`);
  const spawn = (settings) => resolvePolicy({settings, projectDir, home, env: {PATH: '/usr/bin'}}).dispose();
  // A comment that differs makes the text new.
  measure('first spawn: parse, layers, 40 paths', (round) => spawn(resolveSettings({user: `//${round}\n${JSON.stringify(user)}`})));
  measure('next spawn: same settings, 40 paths', () => spawn(resolveSettings({user})));
  measure('settings alone, cached', () => resolveSettings({user}));
} finally {
  rmSync(root, {recursive: true, force: true});
}
