// What a user waits for, against the aims of the package: its size, its installation, and how soon each command is there.
//   node scripts/bars.mjs [--rounds 15] [--partial]
// Needs the binaries of all platforms (npm run prebuild), as the size is that of all of them; --partial does with this
// platform's, and says nothing about the size. Medians, each round measuring
// everything once, beside the start of Node.js itself, so that a slow machine can be told from a slow package.
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {maxBytes, pack, runProgram, stage} from './lib/packing.mjs';
import {Failure, main} from './lib/process.mjs';

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const text = (ms) => `${ms < 100 ? ms.toFixed(1) : Math.round(ms)} ms`;

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
  const {values} = parseArgs({options: {rounds: {type: 'string', default: '15'}, partial: {type: 'boolean', default: false}}});
  const work = mkdtempSync(join(tmpdir(), 'sandboxed-pty-bars-'));
  try {
    stage(join(work, 'staged'), {all: !values.partial});
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
    const rows = values.partial ? [] : [['tarball, all platforms', `${(size / 1e6).toFixed(2)} MB`, '', `<= ${maxBytes / 1e6} MB`, size <= maxBytes]];
    for (const [name, {bar}] of Object.entries(figures)) {
      const ms = median(found[name]);
      rows.push([name, text(ms), text(Math.min(...found[name])), bar === undefined ? '' : `<= ${bar} ms`, bar === undefined || ms <= bar]);
    }
    console.log('| figure | median | lowest | bar | |\n|---|---|---|---|---|');
    for (const [name, value, lowest, bar, good] of rows) console.log(`| ${name} | ${value} | ${lowest} | ${bar} | ${bar === '' ? '' : good ? 'met' : '**missed**'} |`);
    return rows.every(([, , , , good]) => good) ? 0 : 1;
  } finally {
    rmSync(work, {recursive: true, force: true});
  }
});
