import * as fs from 'fs';
import * as path from 'path';

/** As many "#!" lines as the kernel follows. */
const mostScripts = 5;

/** What the kernel reads of a "#!" line. */
const lineSize = 256;

/** Enough for the headers of any usual program. */
const headSize = 4096;

const elfMagic = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const segmentOfInterpreter = 3; // PT_INTERP

const onlyNamed = 0o10000000; // O_PATH

/** Reading these may take something away from others, or do something. */
const kernelInterfaces = ['/proc', '/sys', '/dev'];

/**
 * The file itself, opened for reading once it is known to be no device and no FIFO: opening one of those can have an effect.
 * Whoever exchanges it meanwhile exchanges a name only. On Linux; elsewhere it finds nothing, and so nothing is explained.
 */
function openRegular(file: string): number | undefined {
  const named = fs.openSync(file, onlyNamed);
  try {
    const itself = `/proc/self/fd/${named}`;
    const place = fs.readlinkSync(itself);
    if (!fs.fstatSync(named).isFile() || kernelInterfaces.some((root) => `${place}/`.startsWith(`${root}/`)))
      return undefined;
    return fs.openSync(itself, fs.constants.O_RDONLY);
  } finally {
    fs.closeSync(named);
  }
}

function readHead(file: string): Buffer | undefined {
  // For a message only: what cannot be read is not explained.
  try {
    const fd = openRegular(file);
    if (fd === undefined) return undefined;
    try {
      const head = Buffer.alloc(headSize);
      return head.subarray(0, fs.readSync(fd, head, 0, headSize, 0));
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function interpreterOfScript(head: Buffer): string | undefined {
  const line = head.toString('utf8', 2, lineSize).split('\n', 1)[0] ?? '';
  return line.trim().split(/[ \t]/, 1)[0];
}

/** The loader that a 64-bit little-endian ELF program names; undefined if it is linked statically, or of another kind. */
function loaderOfElf(head: Buffer): string | undefined {
  if (head.length < 64 || head[4] !== 2 || head[5] !== 1) return undefined;
  const table = Number(head.readBigUInt64LE(32));
  const entrySize = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  for (let i = 0; i < count; i++) {
    const at = table + i * entrySize;
    if (at + 56 > head.length) return undefined;
    if (head.readUInt32LE(at) !== segmentOfInterpreter) continue;
    const begin = Number(head.readBigUInt64LE(at + 8));
    const text = head.subarray(begin, begin + Math.min(lineSize, Number(head.readBigUInt64LE(at + 32))));
    const end = text.indexOf(0);
    return end > 0 ? text.toString('utf8', 0, end) : undefined;
  }
  return undefined;
}

/** What the kernel executes in place of `program`, or to load it. */
function interpreterOf(program: string): string | undefined {
  const head = readHead(program);
  if (head === undefined) return undefined;
  if (head.toString('latin1', 0, 2) === '#!') return interpreterOfScript(head);
  return head.subarray(0, 4).equals(elfMagic) ? loaderOfElf(head) : undefined;
}

/**
 * The first of those that are executed when `program` is, the interpreters that "#!" lines name and a loader, that
 * `mayExecute` denies. One that is denied is not looked at: its name comes from the program.
 */
export function findDeniedInterpreter(program: string, mayExecute: (file: string) => boolean): string | undefined {
  let next: string | undefined = program;
  for (let i = 0; i <= mostScripts; i++) {
    next = interpreterOf(next);
    // A relative one is looked for where the session starts, which is not here. And whoever wrote the program does not get
    // to write to the terminal of whoever reads the message.
    if (next === undefined || !path.isAbsolute(next) || /\p{Cc}/u.test(next)) return undefined;
    if (!mayExecute(next)) return next;
  }
  return undefined;
}
