import * as fs from 'fs';
import * as path from 'path';

export const addonName = 'sandboxed_pty.node';
export const keeperName = 'sandboxed-pty-keeper';

/**
 * The path outside of an Electron archive for one inside of it: a program cannot be executed from within an archive,
 * so packagers unpack it beside.
 */
export function unpackedPath(file: string): string {
  return file.replace(/(\.asar)(?=[/\\])/, '$1.unpacked');
}

/** The dynamic loader that an ELF program names, from its first 4096 bytes; undefined if it names none there. */
export function elfInterpreter(head: Buffer): string | undefined {
  const isElf64 = head.length >= 64 && head.readUInt32BE(0) === 0x7f454c46 && head[4] === 2 && head[5] === 1;
  if (!isElf64) return undefined;
  const [start, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)];
  for (let at = start, i = 0; i < count && at + 40 <= head.length; i++, at += size) {
    if (head.readUInt32LE(at) !== 3) continue; // PT_INTERP
    const begin = Number(head.readBigUInt64LE(at + 8));
    const end = head.indexOf(0, begin);
    return begin < head.length && end !== -1 ? head.toString('latin1', begin, end) : undefined;
  }
  return undefined;
}

function readHead(file: string): Buffer {
  const fd = fs.openSync(file, 'r');
  try {
    const head = Buffer.alloc(4096);
    return head.subarray(0, fs.readSync(fd, head, 0, head.length, 0));
  } finally {
    fs.closeSync(fd);
  }
}

/** Takes milliseconds, more with open sockets. */
function reportsGlibc(): boolean {
  const { report } = process as { report?: { excludeNetwork?: boolean; getReport(): object } };
  if (!report) return true;
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  report.excludeNetwork = before ?? false;
  return header?.glibcVersionRuntime !== undefined;
}

/** The C library of this process: by the loader that its program names, or by what Node itself reports. */
function isMusl(): boolean {
  try {
    const loader = path.basename(elfInterpreter(readHead(process.execPath)) ?? '');
    if (loader.startsWith('ld-musl')) return true;
    if (loader.startsWith('ld-linux')) return false;
  } catch {
    // The program was replaced or may not be read: ask Node.
  }
  return !reportsGlibc();
}

/** The name of the folder in prebuilds/ that is for this process. */
export function prebuildName(): string {
  return `${process.platform}-${process.arch}${process.platform === 'linux' && isMusl() ? '-musl' : ''}`;
}

/** A folder with the addon and the keeper side by side. */
export interface Candidate {
  what: 'built' | 'prebuilt';
  directory: string;
}

/** In the order in which they count: what was built on this machine fits it. */
export function candidates(root: string): Candidate[] {
  const built: Candidate = { what: 'built', directory: path.join(root, 'build', 'Release') };
  // Only asked for the name if there is anything to choose from.
  const shipped = path.join(root, 'prebuilds');
  if (!fs.existsSync(shipped)) return [built];
  return [built, { what: 'prebuilt', directory: path.join(shipped, prebuildName()) }];
}

/** The addon of a folder, from beside an archive if it is there: Electron copies what it loads from inside of one. */
export function addonOf(directory: string): string | undefined {
  const file = path.join(directory, addonName);
  return [unpackedPath(file), file].find((each) => fs.existsSync(each));
}

export interface KeeperProblem {
  path: string;
  code: string;
  errno: number;
  reason: string;
}

/** What keeps the keeper of a folder from being started; undefined if nothing does. */
export function keeperProblem(directory: string): KeeperProblem | undefined {
  const keeper = keeperOf(directory);
  try {
    fs.accessSync(keeper, fs.constants.X_OK);
    if (fs.statSync(keeper).isFile()) return undefined;
    return { path: keeper, code: 'EACCES', errno: -13, reason: 'is not an executable file' };
  } catch (error) {
    const { code = 'EIO', errno = -5 } = error as NodeJS.ErrnoException;
    return { path: keeper, code, errno, reason: code === 'ENOENT' ? 'is missing' : 'is not an executable file' };
  }
}

export function keeperOf(directory: string): string {
  return unpackedPath(path.join(directory, keeperName));
}

/**
 * What of a folder in prebuilds/ is not as the package's manifest says; undefined if nothing. For those who install and
 * diagnose: reading all of it takes longer than loading.
 */
export function damageOf(directory: string): string | undefined {
  const manifestPath = path.join(path.dirname(directory), 'manifest.json');
  // Loaded here, as it takes longer than all of this package.
  const { createHash } = require('crypto') as typeof import('crypto');
  let sums: Record<string, { sha256?: string } | undefined>;
  try {
    sums = (JSON.parse(fs.readFileSync(manifestPath, 'utf8')) as { files: typeof sums }).files;
  } catch (error) {
    return `${manifestPath} cannot be read: ${(error as Error).message}`;
  }
  for (const name of [addonName, keeperName]) {
    const file = name === keeperName ? keeperOf(directory) : (addonOf(directory) ?? path.join(directory, name));
    const expected = sums[`${path.basename(directory)}/${name}`]?.sha256;
    if (expected === undefined) return `${manifestPath} does not name ${path.basename(directory)}/${name}`;
    const actual = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
    if (actual !== expected)
      return `${file} is not the file that was packed: it has SHA-256 ${actual}, the manifest ${expected}`;
  }
  return undefined;
}
