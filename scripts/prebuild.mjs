// Builds addon and keeper for every platform that the package carries binaries for, into prebuilds/, on one Linux x64
// machine, with a cross compiler from the npm registry. The same sources give the same bytes.
//   node scripts/prebuild.mjs [--target linux-x64]... [--warnings] [--tests] [--verify | --check]
// --warnings makes every warning an error, for targets that no other build of ours compiles, and does not optimize: what
// comes of it is not for use, and stays below build/. --tests compiles and links the native test program too.
// --verify builds everything a second time, in another folder and without the compiler's cache of our own objects, and
// fails if a byte differs. --check builds nothing, and fails unless all of it is there, was built for use from the sources
// as they are now, and is what the manifest says.
import {cpSync, mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {addonName, keeperName, checkPrebuild} from './lib/binary-check.mjs';
import {isHook} from './lib/hook.mjs';
import {checkManifest, fileSums, sourcesHash, writeManifest} from './lib/manifest.mjs';
import {Failure, main, root, run, which} from './lib/process.mjs';
import {optimization, prebuildPlace, targets} from './lib/targets.mjs';
import {stageNlohmann} from './lib/third-party.mjs';
import {ensureZig, writeWrappers} from './lib/zig.mjs';

const jobs = '2';

/**
 * zig takes the position-independence of a program from the link command, and does not know -static-pie. The keeper has no
 * C++ library, and one for its kind of linking would be built first.
 */
const programFlags = ({system}) => (system === 'Linux' ? ['-pie', '-nostdlib++'] : []);

/** For Linux cmake/Flags.cmake says so. Here the compiler's own libraries would leave the paths of this machine, too. */
const stripFlags = ({system}, warnings) => (system === 'Darwin' && !warnings ? ['-s', '-Wl,-x'] : []);

/** What a Mach-O library calls itself. Nobody looks for an addon by that, but left alone it is the path of this machine's output. */
const nameFlags = ({system}) => (system === 'Darwin' ? [`-Wl,-install_name,@rpath/${addonName}`] : []);

/** Compiles in `work` what `what` names, from the sources in `tree`. Returns the folder with the outputs. */
function compile({target, what, tree, work, zig, env, warnings, tests}) {
  const dir = join(work, target.name);
  const bin = join(dir, 'bin');
  const out = join(dir, 'out');
  writeWrappers(bin, zig, target);
  stageNlohmann(join(dir, 'nlohmann'));
  // No warnings unless asked for: they are for the builds that are run all day. No paths, neither of this folder nor of the compiler.
  const flags = `${warnings ? '' : '-w '}-g0 -ffile-prefix-map=${tree}=. -ffile-prefix-map=${work}=. -ffile-prefix-map=${env.ZIG_LIB_DIR}=zig`;
  const settings = {
    CMAKE_TOOLCHAIN_FILE: join(tree, 'cmake', 'ZigToolchain.cmake'), CMAKE_BUILD_TYPE: 'Release', CMAKE_CXX_FLAGS: flags,
    CMAKE_CXX_FLAGS_RELEASE: optimization(warnings),
    SPTY_ZIG_BIN: bin, SPTY_ZIG_SYSTEM: target.system, SPTY_ZIG_ARCH: target.machine, SPTY_OUTPUT_DIR: out,
    SPTY_WERROR: warnings ? 'ON' : 'OFF', SPTY_BUILD_KEEPER: target.keeperFrom ? 'OFF' : 'ON', SPTY_NODE: process.execPath,
    nlohmann_json_DIR: join(dir, 'nlohmann'), SPTY_BUILD_TESTS: tests ? 'ON' : 'OFF',
    CMAKE_EXE_LINKER_FLAGS: [...programFlags(target), ...stripFlags(target, warnings)].join(' '),
    CMAKE_SHARED_LINKER_FLAGS: [...nameFlags(target), ...stripFlags(target, warnings)].join(' '),
  };
  run('cmake', ['-S', tree, '-B', join(dir, 'cmake'), '--log-level=WARNING', ...(which('ninja') ? ['-G', 'Ninja'] : []),
    ...Object.entries(settings).map(([key, value]) => `-D${key}=${value}`)], {env});
  run('cmake', ['--build', join(dir, 'cmake'), '--parallel', jobs, '--target', ...what], {env});
  return out;
}

/** Builds one target into `destination`. */
function build(target, {destination, ...place}) {
  const begin = Date.now();
  const own = target.keeperFrom ? ['sandboxed_pty'] : ['sandboxed_pty', keeperName];
  const from = compile({...place, target, what: place.tests ? [...own, 'spty_tests'] : own});
  const keeperTarget = targets.find(({name}) => name === target.keeperFrom);
  const keeperDir = keeperTarget ? compile({...place, target: keeperTarget, what: [keeperName]}) : from;
  const folder = join(destination, target.name);
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  cpSync(join(from, addonName), join(folder, addonName));
  cpSync(join(keeperDir, keeperName), join(folder, keeperName));
  checkPrebuild(folder, target, {stripped: !place.warnings});
  console.log(`${target.name}: built in ${((Date.now() - begin) / 1000).toFixed(0)} s`);
}

/** Every target is tried: what one platform lacks says nothing about the next. Returns the names of those that failed. */
function buildAll(chosen, place) {
  const failed = [];
  for (const target of chosen) {
    try {
      build(target, place);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      console.error(`${target.name}: ${error.message}`);
      failed.push(target.name);
    }
  }
  return failed;
}

/** A second build that shares with the first nothing but the compiler and its C and C++ libraries. */
function verify(chosen, place, first) {
  const other = mkdtempSync(join(tmpdir(), 'sandboxed-pty-verify-'));
  try {
    const tree = join(other, 'another-place');
    for (const name of ['native', 'cmake', 'scripts', 'CMakeLists.txt', 'package.json', 'node_modules/node-addon-api',
      'node_modules/node-api-headers']) {
      cpSync(join(root, name), join(tree, name), {recursive: true});
    }
    const env = {...place.env, ZIG_LOCAL_CACHE_DIR: join(other, 'cache')};
    const destination = join(other, 'prebuilds');
    buildAll(chosen, {...place, env, tree, work: join(other, 'work'), destination});
    const second = fileSums(destination);
    return chosen.flatMap(({name}) => [addonName, keeperName].map((file) => `${name}/${file}`))
      .filter((path) => first.files[path]?.sha256 !== second[path]?.sha256);
  } finally {
    rmSync(other, {recursive: true, force: true});
  }
}

/** What is about to be published. */
function check(chosen) {
  const {destination} = prebuildPlace(false);
  for (const target of chosen) checkPrebuild(join(destination, target.name), target);
  checkManifest(destination, chosen);
  console.log(`prebuilds/ is complete: ${chosen.map(({name}) => name).join(', ')}`);
}

function choose(names) {
  if (!names) return targets;
  return names.map((name) => {
    const target = targets.find((each) => each.name === name);
    if (target) return target;
    throw new Failure(`There is no target ${name}. The targets are ${targets.map((each) => each.name).join(', ')}.`);
  });
}

await main(() => {
  if (process.platform === 'linux' ? isHook('prebuild') : process.env.npm_lifecycle_event === 'prebuild') return 0;
  const {values} = parseArgs({options: {target: {type: 'string', multiple: true}, warnings: {type: 'boolean'}, tests: {type: 'boolean'}, verify: {type: 'boolean'},
    check: {type: 'boolean'}}});
  const chosen = choose(values.target);
  if (values.check) return check(chosen);
  const {zig, env} = ensureZig();
  const {CMAKE_CXX_COMPILER_LAUNCHER: _, CMAKE_C_COMPILER_LAUNCHER: __, CXXFLAGS: ___, LDFLAGS: ____, ...inherited} = process.env;
  const place = {zig, env: {...inherited, ...env}, tree: root, ...prebuildPlace(values.warnings),
    warnings: values.warnings, tests: values.tests};

  // Before the build: what is changed meanwhile counts as not built.
  const how = {sources: sourcesHash(), flags: optimization(values.warnings)};
  const failed = buildAll(chosen, place);
  const good = chosen.filter(({name}) => !failed.includes(name));
  const manifest = writeManifest(place.destination, good, how);
  for (const [path, {bytes, sha256}] of Object.entries(manifest.files)) console.log(`${sha256}  ${bytes}  ${path}`);
  if (failed.length > 0) console.error(`Not built: ${failed.join(', ')}`);
  if (!values.verify) return failed.length > 0 ? 1 : 0;

  const differing = verify(good, place, manifest);
  for (const path of differing) console.error(`${path}: the second build differs`);
  if (differing.length === 0) console.log(`Built twice, the same bytes: ${good.map(({name}) => name).join(', ')}`);
  return failed.length + differing.length > 0 ? 1 : 0;
});
