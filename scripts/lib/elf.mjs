// What a 64-bit little-endian ELF file asks of the system that loads it.
const SHT_DYNAMIC = 6;
const SHT_DYNSYM = 11;
const SHT_GNU_VERNEED = 0x6ffffffe;
const DT_NEEDED = 1n;
const PT_INTERP = 3;
const machines = {62: 'x86_64', 183: 'aarch64'};

const text = (file, at) => file.toString('latin1', at, file.indexOf(0, at));

function sectionHeaders(file) {
  const [start, size, count, names] = [Number(file.readBigUInt64LE(40)), file.readUInt16LE(58), file.readUInt16LE(60),
    file.readUInt16LE(62)];
  const sections = Array.from({length: count}, (_, index) => {
    const at = start + index * size;
    return {
      name: file.readUInt32LE(at), type: file.readUInt32LE(at + 4), offset: Number(file.readBigUInt64LE(at + 24)),
      size: Number(file.readBigUInt64LE(at + 32)), link: file.readUInt32LE(at + 40), info: file.readUInt32LE(at + 44),
    };
  });
  return sections.map((section) => ({...section, name: text(file, sections[names].offset + section.name)}));
}

function interpreterOf(file) {
  const [start, size, count] = [Number(file.readBigUInt64LE(32)), file.readUInt16LE(54), file.readUInt16LE(56)];
  for (let at = start; at < start + size * count; at += size) {
    if (file.readUInt32LE(at) === PT_INTERP) return text(file, Number(file.readBigUInt64LE(at + 8)));
  }
  return undefined;
}

function neededLibraries(file, sections) {
  const found = [];
  for (const {type, offset, size, link} of sections) {
    if (type !== SHT_DYNAMIC) continue;
    for (let at = offset; at < offset + size; at += 16) {
      if (file.readBigUInt64LE(at) !== DT_NEEDED) continue;
      found.push(text(file, sections[link].offset + Number(file.readBigUInt64LE(at + 8))));
    }
  }
  return found;
}

/** The symbol versions that other libraries must have, such as GLIBC_2.28. */
function neededVersions(file, sections) {
  const found = [];
  for (const {type, offset, link, info} of sections) {
    if (type !== SHT_GNU_VERNEED) continue;
    for (let library = 0, at = offset; library < info; library += 1, at += file.readUInt32LE(at + 12)) {
      const count = file.readUInt16LE(at + 2);
      for (let index = 0, aux = at + file.readUInt32LE(at + 8); index < count; index += 1, aux += file.readUInt32LE(aux + 12)) {
        found.push(text(file, sections[link].offset + file.readUInt32LE(aux + 8)));
      }
    }
  }
  return found;
}

/** The names that the loader must find elsewhere. */
function importedNames(file, sections) {
  const found = [];
  for (const {type, offset, size, link} of sections) {
    if (type !== SHT_DYNSYM) continue;
    for (let at = offset + 24; at < offset + size; at += 24) {
      if (file.readUInt16LE(at + 6) === 0) found.push(text(file, sections[link].offset + file.readUInt32LE(at)));
    }
  }
  return found;
}

export function elfFacts(file) {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) {
    throw new Error('not a 64-bit little-endian ELF file');
  }
  const sections = sectionHeaders(file);
  return {
    machine: machines[file.readUInt16LE(18)] ?? `ELF machine ${file.readUInt16LE(18)}`,
    relocatable: file.readUInt16LE(16) === 3, // ET_DYN: a library, or a program at a random address
    imports: importedNames(file, sections),
    interpreter: interpreterOf(file),
    needed: neededLibraries(file, sections),
    versions: neededVersions(file, sections),
    sections: sections.map(({name}) => name),
  };
}
