// Other people's headers. In a clone they come from the system and from npm packages; the packed package carries copies
// in third_party/, so that building it needs no network and no other package.
import {cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {Failure, require, root} from './process.mjs';

const carried = join(root, 'third_party');

/** The include folder of node-api-headers or node-addon-api. */
export function headerDir(name) {
  const copy = join(carried, name, 'include');
  if (existsSync(copy)) return copy;
  try {
    const top = dirname(require.resolve(`${name}/package.json`));
    return name === 'node-api-headers' ? join(top, 'include') : top;
  } catch {
    throw new Failure(`The npm package ${name} is not installed in ${root}. Run: npm install`);
  }
}

/** Where scripts/provide-nlohmann.mjs puts it, and binding.gyp looks. */
export const downloadedNlohmann = join(root, 'build', 'third_party', 'nlohmann_json', 'include');
const systemIncludes = ['/usr/include', '/usr/local/include'];
const hasHeader = (dir) => existsSync(join(dir, 'nlohmann', 'json.hpp'));

/** Whether a compiler that binding.gyp calls finds it. */
export const hasNlohmann = () => [join(carried, 'nlohmann_json', 'include'), downloadedNlohmann, ...systemIncludes].some(hasHeader);

/** The folder that holds nlohmann/json.hpp: ours, the system's, or what an earlier build downloaded. */
function nlohmannInclude() {
  const builds = ['cmake', 'tests'].map((name) => join(root, 'build', name, '_deps', 'nlohmann_json-src', 'include'));
  const places = [join(carried, 'nlohmann_json', 'include'), ...systemIncludes, '/opt/homebrew/include', downloadedNlohmann];
  const found = [...places, ...builds].find(hasHeader);
  if (found) return found;
  throw new Failure('nlohmann_json was not found. Install it (Debian: apt-get install nlohmann-json3-dev), or run npm run build first.');
}

/**
 * Copies nlohmann_json's headers into `dir`, away from the rest of a system's include folder, with a file by which
 * find_package() finds them there.
 */
export function stageNlohmann(dir) {
  const from = join(nlohmannInclude(), 'nlohmann');
  const include = join(dir, 'include');
  rmSync(dir, {recursive: true, force: true});
  mkdirSync(include, {recursive: true});
  // With their times: a build that is run again has nothing to do.
  cpSync(from, join(include, 'nlohmann'), {recursive: true, preserveTimestamps: true});
  writeFileSync(join(dir, 'nlohmann_json-config.cmake'), `add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE "\${CMAKE_CURRENT_LIST_DIR}/include")
`);
}

/** Writes third_party/ of the package in `packageRoot`. */
export function stageThirdParty(packageRoot) {
  const target = join(packageRoot, 'third_party');
  for (const name of ['node-api-headers', 'node-addon-api']) {
    const from = headerDir(name);
    const to = join(target, name, 'include');
    if (from === to) continue;
    mkdirSync(to, {recursive: true});
    for (const file of readdirSync(from).filter((each) => each.endsWith('.h'))) cpSync(join(from, file), join(to, file));
  }
  const nlohmann = join(target, 'nlohmann_json');
  if (nlohmannInclude() !== join(nlohmann, 'include')) stageNlohmann(nlohmann);
}
