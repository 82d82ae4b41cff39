// Decides which C library the keeper is linked with on Linux, for both build systems: docs/decisions/keeper-build.md.
//   node scripts/keeper-libc.mjs <arch> <compiler> <name|compile|start|end>
// prints the name ("musl" or "system"), the compiler flags, what comes before the objects, or what comes after them.
import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {join} from 'node:path';

const machine = {x64: 'x86_64', x86_64: 'x86_64', amd64: 'x86_64', arm64: 'aarch64', aarch64: 'aarch64'};

/** Where distributions put a musl for cross-linking: Debian, Fedora, Arch, musl's own `make install`. */
function places(arch) {
  const triple = `${arch}-linux-musl`;
  return [
    {lib: `/usr/lib/${triple}`, include: `/usr/include/${triple}`},
    {lib: `/usr/${triple}/lib64`, include: `/usr/${triple}/include`},
    {lib: `/usr/${triple}/lib`, include: `/usr/${triple}/include`},
    {lib: '/usr/lib/musl/lib', include: '/usr/lib/musl/include'},
    {lib: '/usr/local/musl/lib', include: '/usr/local/musl/include'},
  ];
}

function complete({lib, include}) {
  const files = ['rcrt1.o', 'crti.o', 'crtn.o', 'libc.a'].map((name) => join(lib, name));
  return [...files, join(include, 'unistd.h')].every((path) => existsSync(path));
}

/** The compiler's own headers (stdint.h, stddef.h, ...), which musl's do not replace. */
function compilerHeaders(compiler) {
  const found = spawnSync(compiler, ['-print-file-name=include'], {encoding: 'utf8'});
  return found.status === 0 ? found.stdout.trim() : '';
}

function choose(arch, compiler) {
  const place = process.env.SPTY_KEEPER_LIBC !== 'system' && machine[arch]
    ? places(machine[arch]).find(complete) : undefined;
  const headers = place && compilerHeaders(compiler);
  if (!headers) return {name: ['system'], compile: [], start: ['-static-pie'], end: []};
  return {
    name: ['musl'],
    compile: ['-nostdinc', '-nostdinc++', '-isystem', place.include, '-isystem', headers],
    start: ['-static-pie', '-nostdlib', join(place.lib, 'rcrt1.o'), join(place.lib, 'crti.o'), `-L${place.lib}`],
    end: ['-lc', '-lgcc', join(place.lib, 'crtn.o')],
  };
}

const [arch, compiler, what] = process.argv.slice(2);
const answer = choose(arch, compiler)[what];
if (!answer) {
  console.error('usage: node scripts/keeper-libc.mjs <arch> <compiler> <name|compile|start|end>');
  process.exit(2);
}
console.log(answer.join('\n'));
