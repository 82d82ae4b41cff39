// Which symbols a Mach-O file wants from others, and which the libraries of macOS have: by the text stubs (.tbd) that
// the cross compiler links against.
const LC_SYMTAB = 0x2;
const N_STAB = 0xe0;
const N_TYPE = 0x0e;
const N_EXT = 0x01;
const entrySize = 16;

/** The names that `file` (a Buffer) leaves undefined. */
export function undefinedSymbols(file) {
  const names = [];
  for (let index = 0, at = 32; index < file.readUInt32LE(16); index += 1, at += file.readUInt32LE(at + 4)) {
    if (file.readUInt32LE(at) !== LC_SYMTAB) continue;
    const [symbols, count, strings] = [8, 12, 16].map((offset) => file.readUInt32LE(at + offset));
    for (let entry = symbols; entry < symbols + count * entrySize; entry += entrySize) {
      const type = file[entry + 4];
      if ((type & N_STAB) !== 0 || (type & N_TYPE) !== 0 || (type & N_EXT) === 0) continue;
      const begin = strings + file.readUInt32LE(entry);
      names.push(file.toString('latin1', begin, file.indexOf(0, begin)));
    }
  }
  return names;
}

const list = (text) => text.split(',').map((item) => item.trim().replace(/^'(.*)'$/, '$1')).filter(Boolean);

/** What the libraries of a .tbd file export for `arch` ("x86_64" or "arm64"); arm64e is the system's own arm64. */
export function exportedSymbols(tbd, arch) {
  const wanted = arch === 'arm64' ? ['arm64-macos', 'arm64e-macos'] : [`${arch}-macos`];
  const names = new Set();
  // Each block of exports: "- targets: [...]" and then lists of symbols, until the next block or section.
  for (const [, targets, body] of tbd.matchAll(/- targets:\s*\[([^\]]*)\]((?:\s*[a-z-]+:\s*\[[^\]]*\])*)/g)) {
    if (!list(targets).some((target) => wanted.includes(target))) continue;
    for (const [, symbols] of body.matchAll(/(?:^|\s)(?:weak-|thread-local-)?symbols:\s*\[([^\]]*)\]/g)) {
      for (const name of list(symbols)) names.add(name);
    }
  }
  return names;
}
