// Every byte that a child printed is told, and all of it before the exit.
import * as fs from 'node:fs';
import { better, contract, Gate, isRunning, load, run, script, temporaryDirectory, track, until, type Session, type Terminal } from './support';

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `${i + 1}\r\n`).join('');

/** Runs something many times, a few at once. */
async function many<T>(count: number, atOnce: number, one: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let start = 0; start < count; start += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, count - start) }, (_, i) => one(start + i));
    results.push(...(await Promise.all(batch)));
  }
  return results;
}

better('nothing of a short output is lost at the exit, in 200 runs', async () => {
  const whole = lines(3000);
  const results = await many(200, 10, () => run('seq', ['1', '3000']));
  expect(results.filter(({ output }) => output !== whole).length).toBe(0);
  expect(results.filter(({ exit }) => exit.exitCode !== 0 || exit.signal !== 0)).toEqual([]);
});

better('nothing of a long output is lost at the exit', async () => {
  const whole = lines(200_000);
  const results = await many(6, 3, () => run('seq', ['1', '200000']));
  expect(results.map(({ output }) => output.length)).toEqual(results.map(() => whole.length));
  expect(results.every(({ output }) => output === whole)).toBe(true);
});

contract('a long output is whole and in order while the child lives', async () => {
  const session = script('seq 1 200000; echo end; read line');
  expect(await session.printed('end')).toBe(`${lines(200_000)}end`);
});

contract('no data comes after the exit', async () => {
  const late = await many(40, 10, async () => {
    const session = script('seq 1 2000; kill -KILL $$');
    await session.exit();
    const atExit = session.chunks.length;
    await run('sh', ['-c', 'echo other']);
    return session.chunks.length - atExit;
  });
  expect(late.every((count) => count === 0)).toBe(true);
});

better('an unfinished line without a line feed is told too', async () => {
  const results = await many(50, 10, () => run('sh', ['-c', 'seq 1 3000; printf prompt']));
  expect(results.every(({ output }) => output === `${lines(3000)}prompt`)).toBe(true);
});

better('a killed child loses nothing of what it printed', async () => {
  const results = await many(50, 10, () => run('sh', ['-c', 'seq 1 3000; kill -KILL $$']));
  expect(results.filter(({ output }) => output !== lines(3000)).length).toBe(0);
  expect(results[0]?.exit).toEqual({ exitCode: 0, signal: 9 });
});

better('a paused terminal keeps the output and the exit until it is resumed', async () => {
  const session = script('seq 1 500; exit 3'); // little enough for the kernel to keep
  session.pty.pause();
  await until('the child is gone', () => !isRunning(session.pty.pid));
  await run('sleep', ['0.5']); // longer than the grace period after which node-pty gives up
  expect(session.output).toBe('');
  expect(session.exits).toEqual([]);
  session.pty.resume();
  expect(await session.exit()).toEqual({ exitCode: 3, signal: 0 });
  expect(session.output).toBe(lines(500));
});

better('a terminal that is paused again and again at its end loses nothing', async () => {
  const session = script('seq 1 3000');
  session.pty.onData(() => {
    session.pty.pause();
    setImmediate(() => session.pty.resume());
  });
  await session.exit();
  expect(session.output).toBe(lines(3000));
});

contract('a paused terminal can be destroyed, and then the exit comes', async () => {
  const session = script('echo ready; read line');
  await session.printed('ready');
  session.pty.pause();
  session.pty.destroy();
  expect((await session.exit()).signal).toBe(1);
});

/** Listens from the next setImmediate on; between now and then the event loop polls once. */
async function inNextImmediate(spawn: () => Terminal, waitFor: (pty: Terminal) => boolean): Promise<Session> {
  await new Promise((resolve) => setImmediate(resolve));
  const pty = spawn();
  const givenUp = Date.now() + 20_000;
  while (!waitFor(pty) && Date.now() < givenUp); // meanwhile the event loop does not run: the output is waiting
  return new Promise<Session>((resolve) => setImmediate(() => resolve(track(pty))));
}

better('a listener that comes with the first setImmediate misses nothing', async () => {
  const mark = `${temporaryDirectory()}/printed`;
  const session = await inNextImmediate(
    () => load().spawn('sh', ['-c', 'echo early; : > "$1"; read line', 'sh', mark], {}),
    () => fs.existsSync(mark),
  );
  expect(await session.printed('early')).toBe('early');
});

better('a listener that comes with the first setImmediate misses nothing of a child that has ended', async () => {
  const session = await inNextImmediate(
    () => load().spawn('sh', ['-c', 'echo early; exit 5'], {}),
    (pty) => !isRunning(pty.pid),
  );
  expect(await session.exit()).toEqual({ exitCode: 5, signal: 0 });
  expect(session.output).toBe('early\r\n');
});

better('a child that closes its terminal and works on is left alone, and its exit code comes', async () => {
  const dir = temporaryDirectory();
  const gate = new Gate(dir);
  const mark = `${dir}/closed`;
  const session = script('echo bye; exec <&- >&- 2>&-; : > "$1"; read x < "$2"; exit 7', {}, mark, gate.path);
  await until('the child has closed everything', () => fs.existsSync(mark));
  await run('sh', ['-c', 'echo other']);
  expect(session.exits).toEqual([]);
  gate.open();
  expect(await session.exit()).toEqual({ exitCode: 7, signal: 0 });
  expect(session.output).toBe('bye\r\n');
});

better('a child that closes its terminal and opens it again is heard', async () => {
  const gate = new Gate();
  const session = script('echo one; exec <&- >&- 2>&-; read x < "$1"; exec > /dev/tty; echo two; exit 8', {}, gate.path);
  await session.printed('one');
  gate.open();
  expect(await session.exit()).toEqual({ exitCode: 8, signal: 0 });
  expect(session.output).toBe('one\r\ntwo\r\n');
});

better('cat ends with code 0 at ^D, in 100 runs', async () => {
  const results = await many(100, 10, async () => {
    const session = script('exec cat');
    session.pty.write('line\r');
    await session.printed('line', 2);
    session.pty.write('\x04');
    return { exit: await session.exit(), output: session.output };
  });
  expect(results.filter(({ exit }) => exit.exitCode !== 0 || exit.signal !== 0)).toEqual([]);
  expect(results.filter(({ output }) => output !== 'line\r\nline\r\n')).toEqual([]);
});

contract('a background process that holds the terminal delays no exit and loses no output', async () => {
  const session = script('trap "" HUP; sleep 1000 & echo "background $!."; seq 1 3000; exit 3');
  const background = Number(/background (\d+)\./.exec(await session.printed('.'))?.[1]);
  try {
    expect(await session.exit()).toEqual({ exitCode: 3, signal: 0 });
    expect(session.output).toBe(`background ${background}.\r\n${lines(3000)}`);
  } finally {
    if (isRunning(background)) process.kill(background, 'SIGKILL');
  }
});

contract('a background process that goes on printing delays no exit either', async () => {
  const session = script('trap "" HUP; yes & echo "background $!."; exit 4');
  const background = Number(/background (\d+)\./.exec(await session.printed('.'))?.[1]);
  try {
    expect(await session.exit()).toEqual({ exitCode: 4, signal: 0 });
  } finally {
    if (isRunning(background)) process.kill(background, 'SIGKILL');
  }
});
