// npm's install step: use a prebuilt binary if the package carries one for this platform, else compile with CMake,
// else with node-gyp. If nothing works, say why each way failed and what to install.
import {accessSync, chmodSync, constants, existsSync} from 'node:fs';
import {join} from 'node:path';
import {buildWithCmake, buildWithNodeGyp, findNodeGyp} from './lib/native-build.mjs';
import {main, require, root, which} from './lib/process.mjs';

/** Undefined if the prebuilt pair works here, else why not. */
function usePrebuild() {
  // The loader's own idea of it: what is tried here is what will be loaded.
  const {addonName, damageOf, keeperName, prebuildName} = require(join(root, 'dist', 'binaries.js'));
  const name = prebuildName();
  const dir = join(root, 'prebuilds', name);
  const [addon, keeper] = [addonName, keeperName].map((file) => join(dir, file));
  if (!existsSync(addon)) return `this package has no prebuilt binary for ${name}`;
  if (!existsSync(keeper)) return `the prebuilt binary for ${name} is incomplete: ${keeper} is missing`;
  const damage = damageOf(dir);
  if (damage) return `the prebuilt binary for ${name} is damaged: ${damage}`;
  try {
    // Some ways of unpacking lose this.
    accessSync(keeper, constants.X_OK);
  } catch {
    try {
      chmodSync(keeper, 0o755);
    } catch (error) {
      return `the prebuilt ${keeper} is not executable, and that cannot be changed: ${error.message}`;
    }
  }
  try {
    require(addon);
  } catch (error) {
    return `the prebuilt ${addon} does not load: ${error.message}`;
  }
  console.log(`sandboxed-pty: using the prebuilt binary for ${name}`);
  return undefined;
}

/** Where lib/ is, somebody works on the sources: what runs is then what was built from them. */
const isClone = existsSync(join(root, 'lib'));

const compiler = () => process.env.CXX || which('c++') || which('g++') || which('clang++');
const python = () => process.env.npm_config_python || process.env.PYTHON || which('python3') || which('python');

/** What each builder needs, checked first: a missing tool deserves a better message than a failed command. */
const builders = [
  {
    name: 'cmake',
    needs: [['cmake', () => which('cmake')], ['a C++ compiler', compiler],
      ['make or ninja', () => which('make') || which('ninja')]],
    build: buildWithCmake,
  },
  {
    name: 'node-gyp',
    needs: [['node-gyp', findNodeGyp], ['python3', python], ['a C++ compiler', compiler], ['make', () => which('make')]],
    build: buildWithNodeGyp,
  },
];

function tryBuilder({name, needs, build}) {
  const missing = needs.filter(([, find]) => !find()).map(([tool]) => tool);
  if (missing.length > 0) return `${name}: ${missing.join(' and ')} not found`;
  try {
    build();
    return undefined;
  } catch (error) {
    return `${name}: ${error.message}`;
  }
}

function advice() {
  if (process.platform === 'darwin') return 'Install the compiler with: xcode-select --install, and CMake from cmake.org.';
  if (existsSync('/etc/debian_version')) {
    const sudo = process.getuid() === 0 ? '' : 'sudo ';
    return `Install the tools with: ${sudo}apt-get install --yes cmake make g++`;
  }
  return 'Install CMake 3.19 or newer, make and a C++20 compiler (GCC 11 or Clang 14 and newer) with its static libraries.';
}

await main(() => {
  if (!['linux', 'darwin'].includes(process.platform)) {
    console.log(`sandboxed-pty confines sessions on Linux and macOS. On ${process.platform} it loads, and says so when it is ` +
      'asked for a sandbox; on Windows, run it inside WSL 2.');
    return 0;
  }
  const causes = isClone ? [] : [usePrebuild()];
  if (causes.includes(undefined)) return 0;
  if (!isClone) console.log(`sandboxed-pty: ${causes[0]}; building from source`);
  for (const builder of builders) {
    const cause = tryBuilder(builder);
    if (cause === undefined) return 0;
    causes.push(cause);
  }
  console.error(`sandboxed-pty could not be built in ${root}:`);
  for (const cause of causes) console.error(`  - ${cause}`);
  console.error(`${advice()}\nThen run: npm rebuild sandboxed-pty`);
  return 1;
});
