// The package as it is published, packed from a copy of this tree.
import {spawn} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {addonName, keeperName} from './binary-check.mjs';
import {checkManifest, writeManifest} from './manifest.mjs';
import {require, Failure, root} from './process.mjs';
import {targets} from './targets.mjs';
import {stageThirdParty} from './third-party.mjs';

/** What may be in the package: dist, binaries, what builds them, the schema, and what a reader wants to see. */
const allowed = [
  /^dist\/.*\.(js|mjs|d\.ts|d\.mts)$/, /^prebuilds\/(manifest\.json|[a-z0-9-]+\/(sandboxed_pty\.node|sandboxed-pty-keeper))$/,
  /^native\/.*\.(cc|h|json)$/, /^(cmake|gyp|third_party)\//, /^scripts\/.*\.mjs$/, /^CMakeLists\.txt$/, /^binding\.gyp$/,
  /^schema\/.*\.json$/, /^man\/.*\.1$/, /^package\.json$/, /^LICENSE$/, /^(README|CHANGELOG|THIRD_PARTY_NOTICES)\.md$/,
];
export const maxBytes = 6_000_000;

/** Runs a program and resolves to {status, output, ms}. */
export function runProgram(command, args, options = {}) {
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {stdio: ['ignore', 'pipe', 'pipe'], ...options});
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({status: signal ?? code, output, ms: Math.round(performance.now() - begin)}));
  });
}

/** Build/Release in place of what is prebuilt for this platform. */
function stageBuilt(prebuilds, here) {
  rmSync(prebuilds, {recursive: true, force: true});
  mkdirSync(join(prebuilds, here), {recursive: true});
  for (const name of [addonName, keeperName]) cpSync(join(root, 'build', 'Release', name), join(prebuilds, here, name));
  writeManifest(prebuilds, [], {});
}

/**
 * A copy of what is packed, so that packing changes nothing here. `built`: with the binaries of build/Release; `all`: only if
 * the binaries of all platforms are there and new. Says what it took.
 */
export function stage(dir, {built = false, all = false} = {}) {
  const {files} = require('./package.json');
  const names = [...files.filter((name) => !name.startsWith('!')), 'package.json', 'README.md', 'LICENSE'];
  for (const name of names) if (existsSync(join(root, name))) cpSync(join(root, name), join(dir, name), {recursive: true});
  stageThirdParty(dir);
  const here = `${process.platform}-${process.arch}`;
  if (built) stageBuilt(join(dir, 'prebuilds'), here);
  else checkManifest(join(dir, 'prebuilds'), targets.filter(({name}) => all || name === here));
  const carried = targets.map(({name}) => name).filter((name) => existsSync(join(dir, 'prebuilds', name, addonName)));
  if (!carried.includes(here)) throw new Failure(`There is nothing prebuilt for ${here}.`);
  return `${built ? 'the binaries of build/Release in place of prebuilt ones' : 'prebuilt binaries'}: ${carried.join(', ')}`;
}

/** Packs what is in `dir`, checks what the package holds, and returns {path, files, size, unpackedSize}. */
export async function pack(dir, to) {
  const {status, output} = await runProgram('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', to], {cwd: dir});
  if (status !== 0) throw new Failure(`npm pack failed:\n${output}`);
  const [{filename, files, size, unpackedSize}] = JSON.parse(output.slice(output.indexOf('[\n')));
  const strange = files.map(({path}) => path).filter((path) => !allowed.some((pattern) => pattern.test(path)));
  if (strange.length > 0) throw new Failure(`The package holds what it should not: ${strange.join(', ')}`);
  if (size > maxBytes) throw new Failure(`The package has ${size} bytes; the limit is ${maxBytes}`);
  return {path: join(to, filename), files: files.length, size, unpackedSize};
}
