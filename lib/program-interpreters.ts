import * as fs from 'fs';
import * as path from 'path';

/** As many "#!" lines as the kernel follows. */
const mostScripts = 5;

/** What the kernel looks at to tell what kind of program a file is, and enough for the headers of any usual one. */
const headSize = 4096;

const elfMagic = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const segmentOfInterpreter = 3; // PT_INTERP

function readHead(file: string): Buffer | undefined {
  let fd: number;
  try {
    // Whatever is there by now: this must not wait for somebody at the other end of a FIFO.
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOCTTY);
  } catch {
    return undefined;
  }
  try {
    if (!fs.fstatSync(fd).isFile()) return undefined;
    const head = Buffer.alloc(headSize);
    return head.subarray(0, fs.readSync(fd, head, 0, headSize, 0));
  } catch {
    return undefined;
  } finally {
    fs.closeSync(fd);
  }
}

function interpreterOfScript(head: Buffer): string | undefined {
  const line = head.toString('latin1').slice(2).split('\n', 1)[0] ?? '';
  return line.trim().split(/[ \t]/, 1)[0] || undefined;
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
    const text = head.subarray(begin, begin + Number(head.readBigUInt64LE(at + 32)));
    const end = text.indexOf(0);
    return end > 0 ? text.toString('latin1', 0, end) : undefined;
  }
  return undefined;
}

/**
 * What else is executed when `program` is, in turn: the interpreters that "#!" lines name, and the loader of the last one.
 * For messages only: somebody may exchange the files meanwhile.
 */
export function interpretersOf(program: string): string[] {
  const found: string[] = [];
  let next: string | undefined = program;
  while (next !== undefined && found.length <= mostScripts) {
    const head = readHead(next);
    if (head === undefined) break;
    next = head.subarray(0, 2).toString('latin1') === '#!' ? interpreterOfScript(head) : undefined;
    if (next === undefined && head.subarray(0, 4).equals(elfMagic)) {
      const loader = loaderOfElf(head);
      if (loader !== undefined && path.isAbsolute(loader)) found.push(loader);
    } else if (next !== undefined) {
      found.push(next);
    }
  }
  return found;
}
