// What settings cost a spawn: 40 paths of the user on top of the defaults, with all look-ups in the file system.
import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {now, percentile} from '../lib/meters.mjs';

const kWarmUps = 20;

function timed(count, run) {
  const took = [];
  for (let i = -kWarmUps; i < count; i++) {
    const t0 = now();
    run(i);
    if (i >= 0) took.push(now() - t0);
  }
  return took;
}

export function settings({resolvePolicy, resolveSettings}, {count}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pty-bench-')));
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
    const spawn = (resolved) => resolvePolicy({settings: resolved, projectDir, home, env: {PATH: '/usr/bin'}}).dispose();
    // A comment that differs makes the text new.
    const first = timed(count, (i) => spawn(resolveSettings({user: `//${i}\n${JSON.stringify(user)}`})));
    const next = timed(count, () => spawn(resolveSettings({user})));
    const cached = timed(count, () => resolveSettings({user}));
    return {
      first_p50_ms: percentile(first, 0.5), first_p95_ms: percentile(first, 0.95), next_p50_ms: percentile(next, 0.5),
      cached_p50_ms: percentile(cached, 0.5),
    };
  } finally {
    rmSync(root, {recursive: true, force: true});
  }
}
