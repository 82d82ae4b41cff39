// Checks a built keeper: a static ELF program, under 1 MiB, without writable code. Run after every link on Linux.
import {readFileSync} from 'node:fs';

const PT_INTERP = 3;
const PT_GNU_STACK = 0x6474e551;
const PF_X = 1;
const PF_W = 2;
const MAX_BYTES = 1024 * 1024;

function programHeaders(elf) {
  if (elf.length < 64 || elf.readUInt32BE(0) !== 0x7f454c46) throw new Error('is not an ELF file');
  if (elf[4] !== 2) throw new Error('is not a 64-bit ELF file');
  const little = elf[5] === 1;
  const u16 = (at) => (little ? elf.readUInt16LE(at) : elf.readUInt16BE(at));
  const u32 = (at) => (little ? elf.readUInt32LE(at) : elf.readUInt32BE(at));
  const u64 = (at) => Number(little ? elf.readBigUInt64LE(at) : elf.readBigUInt64BE(at));
  const [start, size, count] = [u64(32), u16(54), u16(56)];
  return Array.from({length: count}, (_, i) => ({type: u32(start + i * size), flags: u32(start + i * size + 4)}));
}

function problems(path) {
  const elf = readFileSync(path);
  const found = [];
  const headers = programHeaders(elf);
  if (headers.some((h) => h.type === PT_INTERP)) found.push('needs a dynamic loader (PT_INTERP); link it with -static');
  if (headers.some((h) => (h.flags & PF_W) && (h.flags & PF_X))) found.push('has a segment that is writable and executable');
  if (!headers.some((h) => h.type === PT_GNU_STACK)) found.push('does not forbid an executable stack');
  if (elf.length >= MAX_BYTES) found.push(`has ${elf.length} bytes; the limit is ${MAX_BYTES - 1}`);
  return found;
}

const paths = process.argv.slice(2);
if (paths.length === 0) {
  console.error('usage: node scripts/check-keeper.mjs <keeper>...');
  process.exit(2);
}
let failed = false;
for (const path of paths) {
  let found;
  try {
    found = problems(path);
  } catch (error) {
    found = [error.message];
  }
  for (const problem of found) console.error(`${path} ${problem}`);
  failed ||= found.length > 0;
}
process.exit(failed ? 1 : 0);
