// What a 64-bit Mach-O file says about itself.
const MAGIC = 0xfeedfacf;
const LC_SYMTAB = 0x2;
const LC_LOAD_DYLIB = 0xc;
const LC_CODE_SIGNATURE = 0x1d;
const LC_BUILD_VERSION = 0x32;
const LC_VERSION_MIN_MACOSX = 0x24;
const CSMAGIC_EMBEDDED_SIGNATURE = 0xfade0cc0;
const CSMAGIC_CODEDIRECTORY = 0xfade0c02;
const CS_ADHOC = 2;
const machines = {[0x01000007]: 'x86_64', [0x0100000c]: 'aarch64'};

/** An embedded signature whose code directory carries the ad-hoc flag. */
function isAdHocSigned(file, offset) {
  if (file.readUInt32BE(offset) !== CSMAGIC_EMBEDDED_SIGNATURE) return false;
  const count = file.readUInt32BE(offset + 8);
  for (let index = 0; index < count; index += 1) {
    const blob = offset + file.readUInt32BE(offset + 12 + index * 8 + 4);
    if (file.readUInt32BE(blob) === CSMAGIC_CODEDIRECTORY) return (file.readUInt32BE(blob + 12) & CS_ADHOC) !== 0;
  }
  return false;
}

const N_STAB = 0xe0;
const N_PEXT = 0x10;
const N_EXT = 0x1;

/**
 * Symbols that no loader needs: debugging entries, and those that are local to the file. Not counted is what zig's linker
 * names itself, whatever it is told to strip: its steps on the way to an imported function on arm64, `name__thunk`.
 */
function countSuperfluousSymbols(file, at) {
  const [start, count, names] = [8, 12, 16].map((offset) => file.readUInt32LE(at + offset));
  let found = 0;
  for (let index = 0; index < count; index += 1) {
    const entry = start + index * 16;
    const type = file[entry + 4];
    if ((type & N_STAB) === 0 && (type & N_EXT) !== 0 && (type & N_PEXT) === 0) continue;
    const name = names + file.readUInt32LE(entry);
    if ((type & N_STAB) !== 0 || !file.toString('latin1', name, file.indexOf(0, name)).endsWith('__thunk')) found += 1;
  }
  return found;
}

const versionText = (number) => `${number >>> 16}.${(number >>> 8) & 0xff}`;

export function machoFacts(file) {
  if (file.length < 32 || file.readUInt32LE(0) !== MAGIC) throw new Error('not a 64-bit Mach-O file');
  const cpu = file.readUInt32LE(4);
  const facts = {machine: machines[cpu] ?? `Mach-O CPU ${cpu}`, libraries: [], signed: false, minimumSystem: undefined,
    superfluousSymbols: 0};
  const count = file.readUInt32LE(16);
  for (let index = 0, at = 32; index < count; index += 1, at += file.readUInt32LE(at + 4)) {
    const command = file.readUInt32LE(at);
    if (command === LC_LOAD_DYLIB) {
      const begin = at + file.readUInt32LE(at + 8);
      facts.libraries.push(file.toString('latin1', begin, file.indexOf(0, begin)));
    } else if (command === LC_SYMTAB) {
      facts.superfluousSymbols = countSuperfluousSymbols(file, at);
    } else if (command === LC_CODE_SIGNATURE) {
      facts.signed = isAdHocSigned(file, file.readUInt32LE(at + 8));
    } else if (command === LC_BUILD_VERSION) {
      facts.minimumSystem = versionText(file.readUInt32LE(at + 12));
    } else if (command === LC_VERSION_MIN_MACOSX) {
      facts.minimumSystem = versionText(file.readUInt32LE(at + 8));
    }
  }
  return facts;
}
