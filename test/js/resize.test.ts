import { spawnSync } from 'node:child_process';
import { better, contract, linux, script, start, type Need, type Terminal } from './support';

const perl: Need = { met: spawnSync('perl', ['-e', '1']).status === 0, reason: 'needs perl' };

/** Prints its size now and after each SIGWINCH. */
const watcher = `const size = () => console.log('<' + process.stdout.columns + 'x' + process.stdout.rows + '>');
process.stdout.on('resize', size); size(); process.stdin.resume();`;

contract('resize sets cols, rows and the size that programs ask for', async () => {
  const session = script('echo ready; read line; stty size; read line');
  await session.printed('ready');
  session.pty.resize(101, 33);
  expect([session.pty.cols, session.pty.rows]).toEqual([101, 33]);
  session.pty.write('\r');
  await session.printed('33 101');
});

contract('resize tells the program with SIGWINCH', async () => {
  const session = start(process.execPath, ['-e', watcher], { cols: 80, rows: 24 });
  await session.printed('<80x24>');
  session.pty.resize(120, 40);
  await session.printed('<120x40>');
  session.pty.resize(10, 5);
  await session.printed('<10x5>');
});

contract('SIGWINCH goes to the foreground job of a shell', async () => {
  const session = start('/bin/sh', ['-c', 'set -m; "$0" -e "$1"', process.execPath, watcher]);
  await session.printed('<80x24>');
  session.pty.resize(91, 19);
  await session.printed('<91x19>');
});

contract('a resize right after spawn is in effect', async () => {
  const session = script('read line; stty size; read line');
  session.pty.resize(77, 11);
  session.pty.write('\r');
  await session.printed('11 77');
});

contract('a fractional size is kept as given and truncated for the kernel', async () => {
  const session = script('echo ready; read line; stty size; read line');
  await session.printed('ready');
  session.pty.resize(90.7, 30.2);
  expect([session.pty.cols, session.pty.rows]).toEqual([90.7, 30.2]);
  session.pty.write('\r');
  await session.printed('30 90');
});

const message = 'resizing must be done using positive cols and rows';
const wrongSizes: ReadonlyArray<readonly [unknown, unknown]> = [
  [0, 24], [80, 0], [-1, 24], [80, -1], [NaN, 24], [80, NaN], [Infinity, 24], [80, Infinity], [-Infinity, 24],
  [undefined, undefined], [80, undefined], [undefined, 24], [null, 24],
];

function messageOf(call: () => void): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function expectWrongSizesRefused(pty: Terminal): void {
  for (const [cols, rows] of wrongSizes) {
    expect([cols, rows, messageOf(() => pty.resize(cols, rows))]).toEqual([cols, rows, message]);
  }
}

contract('sizes that are not positive numbers are refused, and the size stays', () => {
  const { pty } = script('read line', { cols: 81, rows: 25 });
  expectWrongSizesRefused(pty);
  expect([pty.cols, pty.rows]).toEqual([81, 25]);
});

contract('sizes in strings are refused with the usage text', () => {
  const { pty } = script('read line');
  expect(messageOf(() => pty.resize('80', '24'))).toBe('Usage: pty.resize(fd, cols, rows, xPixel, yPixel)');
});

const windowSize = 'ioctl(STDIN, 0x5413, $b = "\\0" x 8) or die; print join("x", unpack("S4", $b)), "\\n";';

contract.needing(linux, perl)('the pixel size is 0 at first and can be set with resize', async () => {
  const session = script('perl -e "$1"; read line; perl -e "$1"; read line; perl -e "$1"; read line', {}, windowSize);
  await session.printed('24x80x0x0');
  session.pty.resize(90, 30, { width: 900, height: 600 });
  session.pty.write('\r');
  await session.printed('30x90x900x600');
  session.pty.resize(91, 31);
  session.pty.write('\r');
  await session.printed('31x91x0x0');
});

better('a pixel size that the kernel cannot keep is refused, and the size stays', () => {
  const { pty } = script('read line', { cols: 81, rows: 25 });
  for (const pixels of [-1, 65536, 1e9, NaN, Infinity, '9', null, {}]) {
    for (const size of [{ width: pixels, height: 1 }, { width: 1, height: pixels }]) {
      expect(() => pty.resize(90, 30, size)).toThrow(RangeError);
    }
  }
  expect([pty.cols, pty.rows]).toEqual([81, 25]);
  pty.resize(90, 30, { width: 65535.9, height: undefined });
  expect([pty.cols, pty.rows]).toEqual([90, 30]);
});

better('after the exit a resize is ignored', async () => {
  const session = script('exit 0');
  await session.exit();
  expect(messageOf(() => session.pty.resize(100, 50))).toBeUndefined();
  expect(messageOf(() => session.pty.resize(100, 50, { width: 1, height: 1 }))).toBeUndefined();
});

better('inside the exit listener a resize is ignored', async () => {
  const { pty } = script('exit 0');
  const thrown = await new Promise((resolve) => pty.onExit(() => resolve(messageOf(() => pty.resize(100, 50)))));
  expect(thrown).toBeUndefined();
});

contract('after the exit wrong sizes are still refused', async () => {
  const session = script('exit 0');
  await session.exit();
  expectWrongSizesRefused(session.pty);
});

better('between destroy and exit a resize is ignored', async () => {
  const session = script('echo ready; trap "" HUP; read x < /dev/tty');
  await session.printed('ready');
  session.pty.destroy();
  expect(messageOf(() => session.pty.resize(100, 50))).toBeUndefined();
  expectWrongSizesRefused(session.pty);
  await session.exit();
});

better('resizing all along never throws while the child comes to its end', async () => {
  const session = script('echo bye');
  const thrown: unknown[] = [];
  let cols = 20;
  await new Promise<void>((resolve) => {
    const again = (): void => {
      thrown.push(messageOf(() => session.pty.resize(cols++, 24)));
      if (session.exits.length === 0) setImmediate(again);
      else resolve();
    };
    again();
  });
  expect(thrown.filter((text) => text !== undefined)).toEqual([]);
});
