// Where nlohmann_json's headers are, for builds that must not see the rest of a system's include folder.
import {cpSync, existsSync, mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Failure, root} from './process.mjs';

/** The folder that holds nlohmann/json.hpp: the system's, or what an earlier build of ours downloaded. */
function findHeaders() {
  const builds = ['cmake', 'tests'].map((name) => join(root, 'build', name, '_deps', 'nlohmann_json-src', 'include'));
  const found = ['/usr/include', '/usr/local/include', '/opt/homebrew/include', ...builds]
    .find((dir) => existsSync(join(dir, 'nlohmann', 'json.hpp')));
  if (found) return found;
  throw new Failure('nlohmann_json was not found. Install it (Debian: apt-get install nlohmann-json3-dev), or run npm run build first.');
}

/** Copies the headers into `dir` with a file by which find_package() finds them, and returns the CMake setting for it. */
export function stageNlohmann(dir) {
  const include = join(dir, 'include');
  rmSync(dir, {recursive: true, force: true});
  mkdirSync(include, {recursive: true});
  cpSync(join(findHeaders(), 'nlohmann'), join(include, 'nlohmann'), {recursive: true});
  writeFileSync(join(dir, 'nlohmann_json-config.cmake'), `add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE "\${CMAKE_CURRENT_LIST_DIR}/include")
`);
  return `-Dnlohmann_json_DIR=${dir}`;
}
