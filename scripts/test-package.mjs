// Packs the package, and installs and uses it as its users do: in an empty folder, without compiler and network.
//   node scripts/test-package.mjs [--node <another node>] [--source]
// Uses prebuilds/ if it has this platform's, else the binaries of build/Release in their place. --source also builds from
// the packed sources (minutes).
import {spawn} from 'node:child_process';
import {chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync,
  writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {packageCases} from './lib/package-cases.mjs';
import {require, Failure, main, root, which} from './lib/process.mjs';
import {stageThirdParty} from './lib/third-party.mjs';

/** What may be in the package: dist, binaries, what builds them, the schema, and what a reader wants to see. */
const allowed = [
  /^dist\/.*\.(js|mjs|d\.ts|d\.mts)$/, /^prebuilds\/(manifest\.json|[a-z0-9-]+\/(sandboxed_pty\.node|sandboxed-pty-keeper))$/,
  /^native\/.*\.(cc|h|json)$/, /^(cmake|gyp|third_party)\//, /^scripts\/.*\.mjs$/, /^CMakeLists\.txt$/, /^binding\.gyp$/,
  /^schema\/.*\.json$/, /^man\/.*\.1$/, /^package\.json$/, /^LICENSE$/, /^(README|CHANGELOG|THIRD_PARTY_NOTICES)\.md$/,
];
const maxBytes = 6_000_000;

/** Runs a program and resolves to {status, output, ms}. */
function runProgram(command, args, options = {}) {
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {stdio: ['ignore', 'pipe', 'pipe'], ...options});
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({status: signal ?? code, output, ms: Math.round(performance.now() - begin)}));
  });
}

/** A copy of what is packed, so that packing changes nothing here. */
function stage(dir) {
  const {files} = require('./package.json');
  const names = [...files.filter((name) => !name.startsWith('!')), 'package.json', 'README.md', 'LICENSE'];
  for (const name of names) if (existsSync(join(root, name))) cpSync(join(root, name), join(dir, name), {recursive: true});
  stageThirdParty(dir);
  const here = join(dir, 'prebuilds', `${process.platform}-${process.arch}`);
  if (existsSync(join(here, 'sandboxed_pty.node'))) return 'the prebuilt binaries';
  mkdirSync(here, {recursive: true});
  for (const name of ['sandboxed_pty.node', 'sandboxed-pty-keeper']) cpSync(join(root, 'build', 'Release', name), join(here, name));
  return 'the binaries of build/Release in place of prebuilt ones';
}

async function pack(dir, to) {
  const {status, output} = await runProgram('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', to], {cwd: dir});
  if (status !== 0) throw new Failure(`npm pack failed:\n${output}`);
  const [{filename, files, size, unpackedSize}] = JSON.parse(output.slice(output.indexOf('[\n')));
  const strange = files.map(({path}) => path).filter((path) => !allowed.some((pattern) => pattern.test(path)));
  if (strange.length > 0) throw new Failure(`The package holds what it should not: ${strange.join(', ')}`);
  if (size > maxBytes) throw new Failure(`The package has ${size} bytes; the limit is ${maxBytes}`);
  console.log(`ok: ${filename}: ${files.length} files, ${size} bytes packed, ${unpackedSize} unpacked`);
  return join(to, filename);
}

/** A PATH with node, npm and a few tools, and nothing that compiles. */
function poorPath(dir, node) {
  mkdirSync(dir);
  symlinkSync(node, join(dir, 'node'));
  const npm = realpathSync(which('npm'));
  writeFileSync(join(dir, 'npm'), `#!/bin/sh\nexec '${process.execPath}' '${npm}' "$@"\n`);
  chmodSync(join(dir, 'npm'), 0o755);
  for (const tool of ['sh', 'sleep', 'stty', 'cat', 'env', 'true']) symlinkSync(which(tool), join(dir, tool));
  return dir;
}

/** The command prefix for a program without network, or none where that is not allowed. */
async function offline() {
  if (!which('unshare')) return [];
  const {status} = await runProgram('unshare', ['-rn', 'true']);
  return status === 0 ? [which('unshare'), '-rn'] : [];
}

await main(async () => {
  const {values} = parseArgs({options: {node: {type: 'string', default: process.execPath}, source: {type: 'boolean'}}});
  const work = mkdtempSync(join(tmpdir(), 'sandboxed-pty-package-'));
  try {
    const staged = join(work, 'staged');
    console.log(`Packing ${stage(staged)}`);
    const tarball = await pack(staged, work);
    const path = poorPath(join(work, 'bin'), values.node);
    const home = join(work, 'home');
    mkdirSync(home);
    const env = {PATH: path, HOME: home, TMPDIR: tmpdir(), NPM_CONFIG_USERCONFIG: '/dev/null', npm_config_cache: join(work, 'npm-cache'),
      npm_config_update_notifier: 'false', npm_config_audit: 'false', npm_config_fund: 'false', TERM: 'xterm'};
    const isolation = await offline();
    if (isolation.length === 0) console.log('No network namespace can be made here: npm is only told to stay offline');

    let failed = 0;
    for (const {name, needs, body} of packageCases) {
      if (needs === 'source' && !values.source) continue;
      const folder = mkdtempSync(join(work, 'user-'));
      writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
      for (const program of ['session.cjs', 'imported.mjs', 'worker.cjs', 'node-pty-program.cjs']) {
        cpSync(join(root, 'test', 'package', program), join(folder, program));
      }
      const inside = (command, args, more = {}) => runProgram(command, args, {cwd: folder, env: {...env, ...more.env}});
      const alone = (command, args, more = {}) => {
        const [first, ...rest] = [...isolation, join(path, command), ...args];
        return inside(first, rest, more);
      };
      try {
        const note = await body({folder, tarball, alone, inside, path, fullPath: process.env.PATH, manifest: require('./package.json')});
        console.log(`ok: ${name}${note ? ` (${note})` : ''}`);
      } catch (error) {
        failed += 1;
        console.error(`failed: ${name}\n${error.message}`);
      }
      rmSync(folder, {recursive: true, force: true});
    }
    console.log(`${statSync(tarball).size} bytes; ${failed} failed`);
    return failed > 0 ? 1 : 0;
  } finally {
    rmSync(work, {recursive: true, force: true});
  }
});
