// What a user waits for, against the aims of the package: its size, its installation, and how soon each command is there.
//   node scripts/bars.mjs [--rounds 15]
// Needs the binaries of all platforms (npm run prebuild), as the size is that of all of them. Medians, each round measuring
// everything once, beside the start of Node.js itself, so that a slow machine can be told from a slow package.
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {maxBytes, pack, runProgram, stage} from './lib/packing.mjs';
import {Failure, main} from './lib/process.mjs';

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Wall time in ms of a program that must end well. */
async function timed(args, options, command = process.execPath) {
  const {status, output, ms} = await runProgram(command, args, options);
  if (status !== 0) throw new Failure(`${args.join(' ')} ended with ${status}:\n${output}`);
  return {ms, output};
}

async function install(tarball, work, env) {
  const folder = mkdtempSync(join(work, 'user-'));
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const {ms} = await timed(['install', '--offline', tarball], {cwd: folder, env}, 'npm');
  return {folder, ms};
}

const requireIt = 'const begin = performance.now(); require("sandboxed-pty"); console.log(performance.now() - begin)';

await main(async () => {
  const {values} = parseArgs({options: {rounds: {type: 'string', default: '15'}}});
  const work = mkdtempSync(join(tmpdir(), 'sandboxed-pty-bars-'));
  try {
    stage(join(work, 'staged'), {all: true});
    const {path: tarball, size} = await pack(join(work, 'staged'), work);
    mkdirSync(join(work, 'home'));
    const env = {PATH: process.env.PATH, HOME: join(work, 'home'), TERM: 'xterm', NPM_CONFIG_USERCONFIG: '/dev/null',
      npm_config_cache: join(work, 'npm-cache'), npm_config_update_notifier: 'false', npm_config_audit: 'false', npm_config_fund: 'false'};
    const {folder} = await install(tarball, work, env);
    const cli = join(folder, 'node_modules', 'sandboxed-pty', 'dist', 'cli', 'main.js');
    const inside = {cwd: folder, env};
    const figures = {
      'npm install, cache warm': {bar: 3000, measure: async () => (await install(tarball, work, env)).ms},
      'require()': {bar: 15, measure: async () => Number((await timed(['-e', requireIt], inside)).output)},
      doctor: {bar: 300, measure: async () => (await timed([cli, 'doctor'], inside)).ms},
      'run -- true': {bar: 150, measure: async () => (await timed([cli, 'run', '--', 'true'], inside)).ms},
      'node -e 0, for comparison': {measure: async () => (await timed(['-e', '0'], inside)).ms},
    };
    const found = Object.fromEntries(Object.keys(figures).map((name) => [name, []]));
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const [name, {measure}] of Object.entries(figures)) found[name].push(await measure());
    }
    const rows = [['tarball, all platforms', `${(size / 1e6).toFixed(2)} MB`, `<= ${maxBytes / 1e6} MB`, size <= maxBytes]];
    for (const [name, {bar}] of Object.entries(figures)) {
      const ms = median(found[name]);
      rows.push([name, `${ms < 100 ? ms.toFixed(1) : Math.round(ms)} ms`, bar === undefined ? '' : `<= ${bar} ms`, bar === undefined || ms <= bar]);
    }
    console.log('| figure | median | bar | |\n|---|---|---|---|');
    for (const [name, value, bar, good] of rows) console.log(`| ${name} | ${value} | ${bar} | ${bar === '' ? '' : good ? 'met' : '**missed**'} |`);
    return rows.every(([, , , good]) => good) ? 0 : 1;
  } finally {
    rmSync(work, {recursive: true, force: true});
  }
});
