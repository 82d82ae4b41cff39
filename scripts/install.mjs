// npm's install step: use a prebuilt binary if the package carries one for this platform, else compile with cmake-js,
// else with node-gyp. If nothing works, say why each way failed and what to install.
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {buildWithCmakeJs, buildWithNodeGyp, findNodeGyp} from './lib/native-build.mjs';
import {main, require, root, which} from './lib/process.mjs';

/** The folder name of prebuilt binaries: <platform>-<arch>, with -musl where Node itself runs on musl. */
export function prebuildName() {
  const musl = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
  return `${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
}

function usePrebuild() {
  const dir = join(root, 'prebuilds', prebuildName());
  const addon = join(dir, 'sandboxed_pty.node');
  const keeper = join(dir, 'sandboxed-pty-keeper');
  if (!existsSync(addon) || !existsSync(keeper)) return `no prebuilt binary for ${prebuildName()} in this package`;
  try {
    require(addon);
  } catch (error) {
    return `the prebuilt ${addon} does not load: ${error.message}`;
  }
  console.log(`sandboxed-pty: using the prebuilt binary in ${dir}`);
  return undefined;
}

const compiler = () => process.env.CXX || which('c++') || which('g++') || which('clang++');
const python = () => process.env.npm_config_python || process.env.PYTHON || which('python3') || which('python');

/** What each builder needs, checked first: a missing tool deserves a better message than a failed command. */
const builders = [
  {
    name: 'cmake-js',
    needs: [['cmake', () => which('cmake')], ['a C++ compiler', compiler],
      ['make or ninja', () => which('make') || which('ninja')]],
    build: () => buildWithCmakeJs(),
  },
  {
    name: 'node-gyp',
    needs: [['node-gyp', findNodeGyp], ['python3', python], ['a C++ compiler', compiler], ['make', () => which('make')]],
    build: () => buildWithNodeGyp(),
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
    console.error(`sandboxed-pty runs on Linux and macOS; this is ${process.platform}.`);
    return 1;
  }
  const causes = [usePrebuild()];
  if (causes[0] === undefined) return 0;
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
