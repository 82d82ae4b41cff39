// Packs the package, and installs and uses it as its users do: in an empty folder, without compiler and network.
//   node scripts/test-package.mjs [--node <another node>] [--built] [--source]
// Uses prebuilds/, which must have been built from these sources; --built takes the binaries of build/Release in their place,
// for machines without the cross compiler. --source also builds from the packed sources (minutes).
import {chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {packageCases} from './lib/package-cases.mjs';
import {pack, runProgram, stage} from './lib/packing.mjs';
import {require, Failure, main, root, which} from './lib/process.mjs';

/** A PATH with node, npm and a few tools, and nothing that compiles. */
function poorPath(dir, node) {
  mkdirSync(dir);
  symlinkSync(node, join(dir, 'node'));
  const npm = realpathSync(which('npm'));
  writeFileSync(join(dir, 'npm'), `#!/bin/sh\nexec '${process.execPath}' '${npm}' "$@"\n`);
  chmodSync(join(dir, 'npm'), 0o755);
  for (const tool of ['sh', 'sleep', 'stty', 'cat', 'env', 'true']) symlinkSync(which(tool), join(dir, tool));
  return dir;
}

/** The command prefix for a program without network. Only an unprivileged user may have to do without. */
async function offline() {
  const {status, output} = which('unshare') ? await runProgram('unshare', ['-rn', 'true']) : {output: 'unshare(1) is not installed'};
  if (status === 0) return [which('unshare'), '-rn'];
  if (process.getuid() === 0 || process.env.CI === 'true') throw new Failure(`No network namespace can be made here: ${output.trim()}`);
  return [];
}

await main(async () => {
  const {values} = parseArgs({options: {node: {type: 'string', default: process.execPath}, built: {type: 'boolean'},
    source: {type: 'boolean'}}});
  const work = mkdtempSync(join(tmpdir(), 'sandboxed-pty-package-'));
  try {
    const staged = join(work, 'staged');
    console.log(`Packing ${stage(staged, {built: values.built})}`);
    const {path: tarball, files, size, unpackedSize} = await pack(staged, work);
    console.log(`ok: ${files} files, ${size} bytes packed, ${unpackedSize} unpacked`);
    const path = poorPath(join(work, 'bin'), values.node);
    const home = join(work, 'home');
    mkdirSync(home);
    const env = {PATH: path, HOME: home, TMPDIR: tmpdir(), NPM_CONFIG_USERCONFIG: '/dev/null', npm_config_cache: join(work, 'npm-cache'),
      npm_config_update_notifier: 'false', npm_config_audit: 'false', npm_config_fund: 'false', TERM: 'xterm'};
    const isolation = await offline();
    const unchecked = isolation.length === 0 ? '; NOT CHECKED: that nothing is downloaded, as no network namespace can be made here' : '';

    let failed = 0;
    for (const {name, needs, body} of packageCases) {
      if (needs === 'source' && !values.source) continue;
      const folder = mkdtempSync(join(work, 'user-'));
      writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
      for (const program of ['session.cjs', 'imported.mjs', 'worker.cjs', 'node-pty-program.cjs']) {
        cpSync(join(root, 'test', 'package', program), join(folder, program));
      }
      const inside = (command, args, more = {}) => runProgram(command, args, {cwd: folder, env: {...env, ...more.env}});
      const alone = (command, args, more = {}) => {
        const [first, ...rest] = [...isolation, join(path, command), ...args];
        return inside(first, rest, more);
      };
      try {
        const note = await body({folder, tarball, alone, inside, path, fullPath: process.env.PATH, manifest: require('./package.json')});
        console.log(`ok: ${name}${note ? ` (${note})` : ''}`);
      } catch (error) {
        failed += 1;
        console.error(`failed: ${name}\n${error.message}`);
      }
      rmSync(folder, {recursive: true, force: true});
    }
    console.log(`${size} bytes; ${failed} failed${unchecked}`);
    return failed > 0 ? 1 : 0;
  } finally {
    rmSync(work, {recursive: true, force: true});
  }
});
