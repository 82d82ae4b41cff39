// The native builds: CMake (default; by way of cmake-js in a clone), node-gyp (where CMake is missing), and the tests.
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {availableParallelism, cpus} from 'node:os';
import {dirname, join} from 'node:path';
import {Failure, require, root, run, runNode, which} from './process.mjs';
import {hasNlohmann} from './third-party.mjs';

const releaseDir = join(root, 'build', 'Release');
const outputs = [join(releaseDir, 'sandboxed_pty.node'), join(releaseDir, 'sandboxed-pty-keeper')];
const stamp = join(releaseDir, '.built-by');
const jobs = String(availableParallelism?.() ?? cpus().length);

/** A package in somebody's node_modules meets compilers that we have never seen: their new warnings are not errors. */
const werror = existsSync(join(root, 'node_modules', 'typescript'));

/** Both builders write to build/Release. Without this, one would take the other's output for up to date. */
function claimOutputs(builder) {
  const last = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim() : '';
  if (last !== builder) for (const path of outputs) rmSync(path, {force: true});
  mkdirSync(releaseDir, {recursive: true});
  writeFileSync(stamp, `${builder}\n`);
}

/** A build folder that was copied or moved still names its old place: start it afresh. */
function dropMovedCache(buildDir) {
  const cache = join(buildDir, 'CMakeCache.txt');
  if (!existsSync(cache)) return;
  const text = readFileSync(cache, 'utf8');
  const value = (key) => text.match(new RegExp(`^${key}:[^=]*=(.*)$`, 'm'))?.[1];
  if (value('CMAKE_HOME_DIRECTORY') !== root || value('CMAKE_CACHEFILE_DIR') !== buildDir) {
    rmSync(buildDir, {recursive: true, force: true});
  }
}

function checkOutputs(builder) {
  const missing = outputs.filter((path) => !existsSync(path));
  if (missing.length > 0) throw new Failure(`${builder} reported success but did not write ${missing.join(' and ')}`);
}

function findCmakeJs() {
  try {
    return join(dirname(require.resolve('cmake-js/package.json')), 'bin', 'cmake-js');
  } catch {
    return undefined;
  }
}

/** The packed package does not bring cmake-js: with Node-API there is nothing about this Node.js that CMake must know. */
export function buildWithCmake() {
  if (findCmakeJs()) {
    buildWithCmakeJs();
    return;
  }
  const buildDir = join(root, 'build', 'cmake');
  dropMovedCache(buildDir);
  claimOutputs('cmake');
  run('cmake', ['-S', root, '-B', buildDir, '--log-level=WARNING', '-DCMAKE_BUILD_TYPE=Release', '-DSPTY_WERROR=OFF',
    `-DSPTY_OUTPUT_DIR=${releaseDir}`, `-DSPTY_NODE=${process.execPath}`]);
  run('cmake', ['--build', buildDir, '--parallel', jobs]);
  checkOutputs('cmake');
}

export function buildWithCmakeJs({config = 'Release', defines = {}} = {}) {
  const buildDir = join(root, 'build', 'cmake');
  const cmakeJs = findCmakeJs();
  if (!cmakeJs) throw new Failure(`The npm package cmake-js is not installed in ${root}. Run: npm install --include=dev`);
  dropMovedCache(buildDir);
  claimOutputs('cmake-js');
  const all = {SPTY_OUTPUT_DIR: releaseDir, SPTY_NODE: process.execPath, SPTY_WERROR: werror ? 'ON' : 'OFF', ...defines};
  const common = ['--out', buildDir, '--config', config, '--parallel', jobs, '--log-level', 'warn',
    ...Object.entries(all).map(([key, value]) => `--CD${key}=${value}`)];
  // configure first: `build` alone would keep the defines of an earlier configuration.
  runNode(cmakeJs, ['configure', ...common]);
  runNode(cmakeJs, ['build', ...common]);
  checkOutputs('cmake-js');
}

/** npm's own node-gyp, the one installed beside us, or the one in PATH. */
export function findNodeGyp() {
  const candidates = [
    () => process.env.npm_config_node_gyp,
    () => require.resolve('node-gyp/bin/node-gyp.js'),
    () => join(dirname(dirname(process.execPath)), 'lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js'),
    () => join(dirname(dirname(process.execPath)), 'share/nodejs/npm/node_modules/node-gyp/bin/node-gyp.js'),
    () => which('node-gyp'),
  ];
  for (const candidate of candidates) {
    try {
      const path = candidate();
      if (path && existsSync(path)) return path;
    } catch {
      // Not resolvable: try the next place.
    }
  }
  return undefined;
}

export function buildWithNodeGyp() {
  const nodeGyp = findNodeGyp();
  if (!nodeGyp) throw new Failure('node-gyp was not found. Install it with: npm install --global node-gyp');
  if (!hasNlohmann()) runNode(join(root, 'scripts', 'provide-nlohmann.mjs'));
  claimOutputs('node-gyp');
  // Not `rebuild`: it deletes build/ with the other builders' folders in it.
  const common = [`--nodedir=${join(root, 'gyp')}`, '--release'];
  runNode(nodeGyp, ['configure', ...common, '--', `-Dspty_werror=${werror ? 1 : 0}`]);
  runNode(nodeGyp, ['build', ...common, '--jobs', jobs]);
  checkOutputs('node-gyp');
  if (process.platform === 'linux') runNode(join(root, 'scripts', 'check-keeper.mjs'), [outputs[1]]);
}

export const nativeTestsDir = (sanitize = '') =>
  join(root, 'build', sanitize ? `tests-${sanitize.replaceAll(',', '-')}` : 'tests');

/** Builds the native tests with plain cmake and returns the build folder. */
export function buildNativeTests({sanitize = ''} = {}) {
  if (!which('cmake')) throw new Failure('cmake is not in PATH; the native tests need it. Debian: apt-get install cmake');
  const buildDir = nativeTestsDir(sanitize);
  dropMovedCache(buildDir);
  run('cmake', ['-S', root, '-B', buildDir, '--log-level=NOTICE', ...(which('ninja') ? ['-G', 'Ninja'] : []), '-DSPTY_BUILD_TESTS=ON',
    '-DSPTY_BUILD_ADDON=OFF', `-DSPTY_SANITIZE=${sanitize}`, `-DSPTY_NODE=${process.execPath}`,
    `-DCMAKE_BUILD_TYPE=${sanitize ? 'RelWithDebInfo' : 'Release'}`,
    // Instrumented code takes very long to optimise, and CI builds it anew each time.
    // What takes longest is compiling: as little of it as keeps the tests quick.
    sanitize ? '-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g1 -DNDEBUG' : '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG']);
  run('cmake', ['--build', buildDir, '--parallel', jobs]);
  return buildDir;
}
