// For node-gyp, where the system has no nlohmann_json: does what cmake/Dependencies.cmake does, in the same order. A pinned
// download into build/third_party, else apt when we may, else one sentence. The packed package carries the headers.
import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Failure, main, root, which} from './lib/process.mjs';
import {downloadedNlohmann, hasNlohmann} from './lib/third-party.mjs';

/** Named once, in the file that CMake reads. */
function pinned() {
  const text = readFileSync(join(root, 'cmake', 'Dependencies.cmake'), 'utf8');
  const [, url, sha256, debianPackage] = text.match(/spty_require\(nlohmann_json .*\n\s*(https:\S+)\s+([0-9a-f]{64})\s+([^\s)]+)/) ?? [];
  if (!url) throw new Failure('cmake/Dependencies.cmake does not say where nlohmann_json comes from');
  return {url, sha256, debianPackage};
}

/** Undefined, or why it did not work. */
async function download({url, sha256}) {
  let content;
  try {
    const response = await fetch(url, {signal: AbortSignal.timeout(60_000)});
    if (!response.ok) return `${url}: status ${response.status}`;
    content = Buffer.from(await response.arrayBuffer());
  } catch (error) {
    return `${url} could not be downloaded (${error.cause?.message ?? error.message})`;
  }
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual !== sha256) return `${url} has the SHA-256 ${actual} instead of ${sha256}: not used`;
  const dir = join(downloadedNlohmann, '..');
  rmSync(dir, {recursive: true, force: true});
  mkdirSync(dir, {recursive: true});
  const archive = join(dir, 'json.tar.xz');
  writeFileSync(archive, content);
  const {status, error, stderr} = spawnSync('tar', ['-xJf', archive, '--strip-components=1', '-C', dir], {encoding: 'utf8'});
  rmSync(archive);
  if (status === 0 && hasNlohmann()) return undefined;
  rmSync(dir, {recursive: true});
  return `${url} could not be unpacked: ${error?.message ?? stderr.trim()}`;
}

/** Undefined, or why it did not work. */
function installPackage({debianPackage}) {
  if (!which('apt-get') || !existsSync('/etc/debian_version')) return 'this is not Debian';
  if (process.getuid() !== 0) return 'only root may run apt-get';
  console.log(`Installing the Debian package ${debianPackage}`);
  const apt = (...args) => spawnSync('apt-get', args, {encoding: 'utf8', env: {...process.env, DEBIAN_FRONTEND: 'noninteractive'}});
  const install = () => apt('install', '--yes', '--quiet=2', '--no-install-recommends', debianPackage);
  let {status, stderr} = install();
  if (status !== 0) {
    apt('update', '--quiet=2'); // a fresh container has no package lists
    ({status, stderr} = install());
  }
  if (status !== 0) return `apt-get could not install ${debianPackage}: ${stderr.trim()}`;
  return hasNlohmann() ? undefined : `apt-get installed ${debianPackage}, and the header is not there`;
}

await main(async () => {
  if (hasNlohmann()) return 0;
  const pin = pinned();
  const causes = [await download(pin)];
  if (causes[0] !== undefined) causes.push(installPackage(pin));
  if (causes.includes(undefined)) return 0;
  for (const cause of causes) console.error(cause);
  throw new Failure(`nlohmann_json was not found, and could not be had: install it (Debian and Ubuntu: apt-get install ${pin.debianPackage}) ` +
    'and run the same command again.');
});
