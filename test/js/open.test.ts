// open(): a terminal without a process. Its pid is -1, so these tests never call kill() or destroy() on it.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as tty from 'node:tty';
import { contract, load, ours, resultOf, type Terminal } from './support';

const opened: Terminal[] = [];

function open(options?: object): Terminal {
  const pair = load().open(options);
  opened.push(pair);
  return pair;
}

afterEach(() => {
  for (const pair of opened.splice(0)) {
    pair.slave.destroy();
    pair.master.destroy();
  }
});

function firstChunk(stream: any): Promise<unknown> {
  return new Promise((resolve) => stream.once('data', resolve));
}

contract('open gives both ends of a terminal, its name, and -1 for the pid', () => {
  const pair = open({});
  expect(pair.pid).toBe(-1);
  expect(pair.ptsName).toMatch(/^\/dev\//);
  expect(fs.statSync(pair.ptsName).isCharacterDevice()).toBe(true);
  expect([pair.master.isTTY, pair.slave.isTTY]).toEqual([true, true]);
  expect(tty.isatty(pair.fd)).toBe(true);
});

contract('what is written at one end is read at the other, as strings', async () => {
  const pair = open({});
  const forth = firstChunk(pair.slave);
  pair.master.write('forth\n');
  expect(await forth).toBe('forth\n');
  const pair2 = open();
  const back = firstChunk(pair2.master);
  pair2.slave.write('back\n');
  expect(await back).toBe('back\r\n');
});

contract('with encoding null both ends give Buffers', async () => {
  const pair = open({ encoding: null });
  const back = firstChunk(pair.master);
  pair.slave.write('x');
  expect(Buffer.isBuffer(await back)).toBe(true);
});

function sizeOf(pair: Terminal): string {
  const fd = fs.openSync(pair.ptsName, fs.constants.O_RDWR | fs.constants.O_NOCTTY);
  try {
    return execFileSync('stty', ['size'], { stdio: [fd, 'pipe', 'pipe'], encoding: 'utf8' }).trim();
  } finally {
    fs.closeSync(fd);
  }
}

contract('open and resize set the size', () => {
  const pair = open({ cols: 90, rows: 30 });
  expect(sizeOf(pair)).toBe('30 90');
  pair.resize(100, 40);
  expect(sizeOf(pair)).toBe('40 100');
  expect([pair.cols, pair.rows]).toEqual([100, 40]);
});

contract('without a size a new terminal has 80 columns and 24 rows', () => {
  expect(sizeOf(open())).toBe('24 80');
});

contract('when both ends are destroyed nothing keeps node alive', async () => {
  const result = await resultOf((pty) => {
    const pair = pty.open({});
    pair.slave.destroy();
    pair.master.destroy();
    return 'ends by itself';
  });
  expect(result).toBe('ends by itself');
});

ours('resize after the ends are destroyed does not reach whoever got the descriptor next', async () => {
  const pair = open({});
  const [slaveClosed, masterClosed] = [pair.slave, pair.master].map((end) => new Promise((resolve) => end.once('close', resolve)));
  pair.slave.destroy();
  pair.master.destroy();
  await Promise.all([slaveClosed, masterClosed]);
  const others = Array.from({ length: 5 }, () => open({ cols: 50, rows: 40 }));
  expect(others.some(({ fd }) => fd === pair.fd)).toBe(true);
  pair.resize(11, 7);
  expect(others.map(sizeOf)).toEqual(Array(5).fill('40 50'));
});

ours('if one end cannot be used, nothing of the other is left', async () => {
  const left = await resultOf(async (pty, kernel) => {
    const tty = require('node:tty');
    const Real = tty.ReadStream;
    const names: string[] = [];
    // The first stream of a process brings a descriptor of Node's own, which stays.
    const first = pty.open({});
    const ends = [first.slave, first.master];
    const closed = ends.map((end) => new Promise((resolve) => end.once('close', resolve)));
    for (const end of ends) end.destroy();
    await Promise.all(closed);
    for (const failing of [1, 2]) {
      const before = kernel.openFds();
      let calls = 0;
      tty.ReadStream = function (fd: number) {
        if (++calls === failing) throw new Error(`no end ${failing}`);
        return new Real(fd);
      };
      try {
        pty.open({});
      } catch (error) {
        names.push((error as Error).message);
      }
      await kernel.until('the ends are closed', () => kernel.openFds().every((fd) => before.includes(fd)));
    }
    return names;
  });
  expect(left).toEqual(['no end 1', 'no end 2']);
});
