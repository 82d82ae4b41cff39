import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Readable } from 'node:stream';
import {
  better, checksumAfterGate, checksumOfInput, contract, Gate, hexOfInput, host, linux, ours, refusalOfWrite, script,
  temporaryDirectory, until, type Session,
} from './support';

const MiB = 1024 * 1024;

function checksum(data: Buffer): string {
  return execFileSync('cksum', { input: data, encoding: 'utf8' }).trim();
}

/** What arrives of a few writes, in hexadecimal. */
async function arriving(bytes: number, write: (session: Session) => void, options: object = {}): Promise<string> {
  const session = script(hexOfInput, options, String(bytes));
  await session.printed('ready\n');
  write(session);
  const output = await session.printed('.');
  return output.replace(/^.*ready\r?\n/s, '').replace('.', '');
}

contract('strings, Buffers, typed arrays and arrays of numbers are written', async () => {
  const values = ['h', Buffer.from('i'), new Uint8Array([0x21]), [0x3f, 0x100 + 0x41]];
  const hex = await arriving(5, ({ pty }) => {
    for (const value of values) expect(pty.write(value)).toBeUndefined();
  });
  expect(hex).toBe('6869213f41');
});

contract('strings are written in the encoding of the terminal', async () => {
  expect(await arriving(4, ({ pty }) => pty.write('éü'))).toBe('c3a9c3bc');
  expect(await arriving(2, ({ pty }) => pty.write('éü'), { encoding: 'latin1' })).toBe('e9fc');
});

contract('with encoding hex a written string is hexadecimal too', async () => {
  const session = script(hexOfInput, { encoding: 'hex' }, '2');
  await session.printed(Buffer.from('ready\n').toString('hex'));
  session.pty.write('6f6b');
  await session.printed(Buffer.from('6f6b.').toString('hex'));
});

contract('with Buffers strings are written as UTF-8', async () => {
  const session = script(hexOfInput, { encoding: null }, '3');
  const all = (): string => Buffer.concat(session.chunks as Buffer[]).toString();
  const seen = (text: string): Promise<void> =>
    new Promise((resolve) => session.pty.onData(() => all().includes(text) && resolve()));
  await seen('ready\n');
  session.pty.write('€');
  await seen('e282ac.');
});

contract('empty data is ignored', async () => {
  const hex = await arriving(1, ({ pty }) => {
    for (const nothing of ['', Buffer.alloc(0), [], new Uint8Array(0)]) expect(pty.write(nothing)).toBeUndefined();
    pty.write('x');
  });
  expect(hex).toBe('78');
});

contract('a Buffer is copied: what happens to it afterwards does not matter', async () => {
  const hex = await arriving(4, ({ pty }) => {
    const data = Buffer.from('keep');
    pty.write(data);
    data.fill(0);
  });
  expect(hex).toBe(Buffer.from('keep').toString('hex'));
});

for (const wrong of [5, null, undefined, {}, true, Symbol.iterator]) {
  contract(`write(${String(wrong)}) is a TypeError`, async () => {
    const session = script('stty -echo; echo ready; read line; echo "<$line>"');
    await session.printed('ready');
    expect(refusalOfWrite(session.pty, wrong)).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
    session.pty.write('fine\r');
    await session.printed('<fine>');
  });
}

contract('many small writes keep their order', async () => {
  const count = 5000;
  const lines = Array.from({ length: count }, (_, i) => `line ${i} `);
  const all = Buffer.from(lines.join(''));
  const session = script(checksumOfInput, {}, String(all.length));
  await session.printed('ready');
  lines.forEach((line, i) => session.pty.write(i % 2 === 0 ? line : Buffer.from(line)));
  await session.printed(checksum(all));
});

contract('one large write arrives whole', async () => {
  const data = randomBytes(4 * MiB);
  const session = script(checksumOfInput, {}, String(data.length));
  await session.printed('ready');
  session.pty.write(data);
  await session.printed(checksum(data));
});

contract('a reader that does not read yet gets everything later, in order', async () => {
  const gate = new Gate();
  const parts = Array.from({ length: 64 }, () => randomBytes(MiB / 64 + 13));
  const all = Buffer.concat(parts);
  const session = script(checksumAfterGate, {}, String(all.length), gate.path);
  await session.printed('ready');
  for (const part of parts) session.pty.write(part);
  gate.open();
  await session.printed(checksum(all));
});

contract('strings and Buffers of all sizes keep their order, whatever happens to the Buffers afterwards', async () => {
  const sizes = [10, 300_000, 5, 70_000, 2000, 2000, 65_536, 65_537, 1, 1024, 1025, 200_000];
  const parts = [...sizes, ...sizes].map((size, i) => {
    const text = `${i}:é😀,`.repeat(Math.ceil(size / 4)).slice(0, size);
    // Not cut within a character: its halves in two neighbours could become one again.
    return i % 3 === 1 ? Buffer.from(randomBytes(size)) : text.replace(/[\ud800-\udbff]$/, '.').replace(/^[\udc00-\udfff]/, '.');
  });
  const all = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const session = script(checksumOfInput, {}, String(all.length));
  await session.printed('ready');
  for (const part of parts) {
    session.pty.write(part);
    if (typeof part !== 'string') part.fill(0);
  }
  await session.printed(checksum(all));
});

contract('a stalled reader does not keep other terminals from working', async () => {
  const gate = new Gate();
  const data = randomBytes(MiB);
  const stalled = script(checksumAfterGate, {}, String(data.length), gate.path);
  await stalled.printed('ready');
  stalled.pty.write(data);
  const other = script('stty -echo; echo ready; read line; echo "<$line>"');
  await other.printed('ready');
  other.pty.write('still here\r');
  await other.printed('<still here>');
  gate.open();
  await stalled.printed(checksum(data));
});

contract('input and output flow at the same time', async () => {
  const data = randomBytes(MiB).toString('hex');
  const session = script('stty raw -echo; echo ready; head -c "$1"; echo; echo end; read line', {}, String(data.length));
  await session.printed('ready\n');
  session.pty.write(data);
  await session.printed('\nend');
  expect(session.output.slice(session.output.indexOf('ready\n') + 6, -1).replace(/\nend$/, '')).toBe(data);
});

contract('a stream can be piped into the terminal', async () => {
  const hex = await arriving(9, ({ pty }) => {
    Readable.from([Buffer.from('one'), Buffer.from('two'), Buffer.from('six')]).pipe(pty as any, { end: false });
  });
  expect(hex).toBe(Buffer.from('onetwosix').toString('hex'));
});

contract('after the exit a write is ignored', async () => {
  const session = script('exit 0');
  await session.exit();
  expect(session.pty.write('nobody reads this')).toBeUndefined();
  expect(session.pty.write(Buffer.alloc(MiB))).toBeUndefined();
});

better('input that a dying child leaves unread causes no message', async () => {
  const end = await host(async (pty) => {
    for (let i = 0; i < 10; i++) {
      const child = pty.spawn('sh', ['-c', 'stty raw -echo; echo ready; read line'], {});
      const exited = new Promise((resolve) => child.onExit(resolve));
      await new Promise<void>((resolve) => child.onData(() => resolve()));
      child.write(Buffer.alloc(1024 * 1024));
      child.kill('SIGKILL');
      child.write(Buffer.alloc(1024 * 1024));
      await exited;
      child.write('too late');
    }
  });
  expect({ code: end.code, stdout: end.stdout, stderr: end.stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
});

ours('write returns false above the high-water mark, and drain tells when there is room again', async () => {
  const gate = new Gate();
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const session = script(`stty raw -echo; echo ready; read x < "$1"; exec cat > /dev/null`, {}, gate.path);
  const { pty } = session;
  await session.printed('ready');
  expect(pty.writableHighWaterMark).toBeGreaterThan(0);
  expect(pty.writableLength).toBe(0);
  let drained = false;
  const drain = new Promise<void>((resolve) => pty.once('drain', () => resolve(void (drained = true))));
  let room: unknown;
  for (let i = 0; i < 4096 && room !== false; i++) {
    room = pty.write(chunk);
    if (room !== false) expect([room, pty.writableLength <= pty.writableHighWaterMark]).toEqual([undefined, true]);
  }
  expect(room).toBe(false);
  expect(drained).toBe(false);
  gate.open();
  await drain;
  expect(pty.writableLength).toBeLessThan(pty.writableHighWaterMark);
  expect(pty.write('x')).toBeUndefined();
});

ours('what is written above the high-water mark is kept all the same', async () => {
  const gate = new Gate();
  const all = randomBytes(8 * MiB);
  const session = script(checksumAfterGate, {}, String(all.length), gate.path);
  await session.printed('ready');
  for (let offset = 0; offset < all.length; offset += MiB) session.pty.write(all.subarray(offset, offset + MiB));
  gate.open();
  await session.printed(checksum(all));
});

ours('a piped stream waits for drain instead of piling up', async () => {
  const gate = new Gate();
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const session = script(`stty raw -echo; echo ready; read x < "$2"; head -c "$1" | cksum`, {}, String(512 * chunk.length), gate.path);
  await session.printed('ready');
  let most = 0;
  const source = Readable.from(
    (function* () {
      for (let i = 0; i < 512; i++) {
        most = Math.max(most, session.pty.writableLength);
        yield chunk;
      }
    })(),
  );
  source.pipe(session.pty as any, { end: false });
  gate.open();
  await session.printed(checksum(Buffer.alloc(512 * chunk.length, 'x')));
  expect(most).toBeLessThanOrEqual(session.pty.writableHighWaterMark + 2 * chunk.length);
});

ours('after the exit nothing is counted as queued', async () => {
  const session = script(`stty raw -echo; echo ready; sleep 1000`);
  await session.printed('ready');
  session.pty.write(Buffer.alloc(MiB));
  session.pty.kill('SIGKILL');
  await session.exit();
  expect(session.pty.writableLength).toBe(0);
});

better.needing(linux)('what is typed while the child has its stdio closed waits until it opens the terminal again', async () => {
  const dir = temporaryDirectory();
  const [closed, go] = [path.join(dir, 'closed'), path.join(dir, 'go')];
  execFileSync('mkfifo', [go]);
  const child = 'stty -echo; echo ready; exec <&- >&- 2>&-; : > "$1"; : < "$2"; read line < /dev/tty; echo "<$line>" > /dev/tty';
  const session = script(child, {}, closed, go);
  await session.printed('ready');
  await until('the terminal is closed', () => fs.existsSync(closed));
  session.pty.write('typed meanwhile\r');
  fs.closeSync(fs.openSync(go, 'w'));
  await session.printed('<typed meanwhile>');
});
