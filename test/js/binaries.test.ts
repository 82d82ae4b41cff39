// Which prebuilt binary is for this process: told by the loader that the running program names.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { linux, modulePath, ours } from './support';

interface Binaries {
  elfInterpreter(head: Buffer): string | undefined;
  prebuildName(): string;
}

const binaries = require(path.join(path.dirname(modulePath), 'binaries.js')) as Binaries;

/** The first bytes of a program with two program headers, the second of which names `loader`. */
function program(loader: string): Buffer {
  const head = Buffer.alloc(4096);
  head.writeUInt32BE(0x7f454c46, 0);
  head[4] = 2; // 64 bits
  head[5] = 1; // little-endian
  head.writeBigUInt64LE(64n, 32);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(2, 56);
  head.writeUInt32LE(6, 64); // PT_PHDR
  head.writeUInt32LE(3, 64 + 56); // PT_INTERP
  head.writeBigUInt64LE(700n, 64 + 56 + 8);
  head.write(`${loader}\0`, 700, 'latin1');
  return head;
}

ours('the loader of a program is read from its headers', () => {
  expect(binaries.elfInterpreter(program('/lib/ld-musl-x86_64.so.1'))).toBe('/lib/ld-musl-x86_64.so.1');
  expect(binaries.elfInterpreter(program('/nix/store/x/lib/ld-linux-aarch64.so.1'))).toBe('/nix/store/x/lib/ld-linux-aarch64.so.1');
});

ours('what is no such program names no loader', () => {
  const outside = program('/lib/x');
  outside.writeBigUInt64LE(5000n, 64 + 56 + 8);
  const unterminated = program('/lib/x').fill('x', 700);
  for (const head of [Buffer.alloc(0), Buffer.from('#!/bin/sh\n'), Buffer.alloc(4096), outside, unterminated, program('x').subarray(0, 100)]) {
    expect(binaries.elfInterpreter(head)).toBeUndefined();
  }
});

ours.needing(linux)('the name is that of what Node itself reports', () => {
  const { glibcVersionRuntime } = (process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }).header;
  expect(binaries.prebuildName()).toBe(`linux-${process.arch}${glibcVersionRuntime === undefined ? '-musl' : ''}`);
  const head = fs.readFileSync(process.execPath).subarray(0, 4096);
  expect(binaries.elfInterpreter(head)).toMatch(glibcVersionRuntime === undefined ? /ld-musl/ : /ld-linux/);
});
