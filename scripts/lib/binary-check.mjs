// What every prebuilt binary must be, read from its own headers: the right machine, no library or symbol that an old
// system lacks, no debug information, and on macOS arm64 a signature, without which the kernel does not run it.
import {chmodSync, existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {elfFacts} from './elf.mjs';
import {machoFacts} from './macho.mjs';
import {Failure, root} from './process.mjs';

export const addonName = 'sandboxed_pty.node';
export const keeperName = 'sandboxed-pty-keeper';

const glibcFloor = [2, 28];
const glibcLibraries = ['libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2', 'librt.so.1', 'libutil.so.1',
  'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'];

/** "2.28" is newer than "2.4": by number, not by text. */
function newer(version, [major, minor]) {
  const [a, b = 0] = version.split('.').map(Number);
  return a > major || (a === major && b > minor);
}

function elfProblems(file, {machine, zig}, isKeeper) {
  const {machine: actual, needed, versions, interpreter, sections, imports, relocatable} = elfFacts(file);
  const allowed = isKeeper ? [] : zig.includes('-musl') ? ['libc.so'] : glibcLibraries;
  const problems = [];
  if (actual !== machine) problems.push(`is for ${actual}`);
  if (isKeeper && interpreter) problems.push(`needs the loader ${interpreter}`);
  if (!relocatable) problems.push('is not position-independent');
  // Electron's V8 keeps all memory in a cage, and aborts at a buffer from outside of it.
  for (const name of imports) if (/^(napi|node_api)_create_external_(array)?(buffer|string)/.test(name)) problems.push(`uses ${name}`);
  for (const library of needed) if (!allowed.includes(library)) problems.push(`needs ${library}`);
  for (const version of versions) {
    const [, number] = version.match(/^GLIBC_([\d.]+)$/) ?? [];
    if (!number || newer(number, glibcFloor)) problems.push(`needs ${version}`);
  }
  for (const name of sections) if (/^\.(symtab|debug_)/.test(name)) problems.push(`is not stripped: it has ${name}`);
  return problems;
}

function machoProblems(file, {machine}, _isKeeper, stripped) {
  const {machine: actual, libraries, signed, minimumSystem, superfluousSymbols} = machoFacts(file);
  const problems = [];
  if (actual !== machine) problems.push(`is for ${actual}`);
  if (machine === 'aarch64' && !signed) problems.push('has no ad-hoc signature');
  if (stripped && superfluousSymbols > 0) problems.push(`is not stripped: it has ${superfluousSymbols} symbols that nobody needs`);
  if (minimumSystem !== '11.0') problems.push(`needs macOS ${minimumSystem} instead of 11.0`);
  for (const library of libraries) if (library !== '/usr/lib/libSystem.B.dylib') problems.push(`needs ${library}`);
  return problems;
}

/** Throws a Failure that says all that is wrong with the two files in `folder`. */
export function checkPrebuild(folder, target, {stripped = true} = {}) {
  const problems = [addonName, keeperName].flatMap((name) => {
    const path = join(folder, name);
    if (!existsSync(path)) return [`${path} is missing`];
    chmodSync(path, 0o755);
    const check = target.system === 'Darwin' ? machoProblems : elfProblems;
    const file = readFileSync(path);
    const problems = check(file, target, name === keeperName, stripped);
    // It would tell where it was built, and be another file elsewhere.
    if (stripped && file.includes(`${root}/`)) problems.push(`names ${root}`);
    return problems.map((problem) => `${path} ${problem}`);
  });
  if (problems.length > 0) throw new Failure(problems.join('\n'));
}
