import { PassThrough } from 'node:stream';
import * as fs from 'node:fs';
import * as tty from 'node:tty';
import { contract, linux, openFds, raw, run, script, until } from './support';

// Does not read: Linux wakes readers of a terminal whose master is closed before it sends the signal, and one that is
// quick enough ends by itself.
const waiting = 'echo ready; exec sleep 1000';

contract('destroy hangs up: the child gets SIGHUP and the exit comes', async () => {
  const session = script(waiting);
  await session.printed('ready');
  expect(session.pty.destroy()).toBeUndefined();
  expect(await session.exit()).toEqual({ exitCode: 0, signal: 1 });
});

contract('after destroy there is no more data', async () => {
  const session = script('while :; do echo output; done');
  await session.printed('output');
  session.pty.destroy();
  const chunks = session.chunks.length;
  await session.exit();
  expect(session.chunks.length).toBe(chunks);
});

contract('pause after destroy does not hold back the exit', async () => {
  const session = script(waiting);
  await session.printed('ready');
  session.pty.destroy();
  session.pty.pause();
  expect(await session.exit()).toEqual({ exitCode: 0, signal: 1 });
});

contract('destroy may be called again and again, also inside the exit listener', async () => {
  const session = script('echo ready; read line');
  const inside = new Promise<unknown>((resolve) => {
    session.pty.onExit(() => {
      try {
        session.pty.destroy();
        resolve(undefined);
      } catch (error) {
        resolve(error);
      }
    });
  });
  await session.printed('ready');
  session.pty.destroy();
  session.pty.destroy();
  expect(await inside).toBeUndefined();
  await session.exit();
  expect(session.exits).toHaveLength(1);
});

contract('destroy inside a data listener is fine', async () => {
  const session = script(waiting);
  session.pty.onData(() => session.pty.destroy());
  expect(await session.exit()).toEqual({ exitCode: 0, signal: 1 });
});

contract('destroy right after spawn ends the session', async () => {
  const session = script('sleep 1000');
  session.pty.destroy();
  await session.exit(); // by the signal or, if it comes so far, for want of a terminal
  expect(session.exits).toHaveLength(1);
});

contract('after destroy every member may still be used', async () => {
  const session = script('echo ready; read line');
  await session.printed('ready');
  session.pty.destroy();
  const { pty } = session;
  pty.write('x');
  pty.end();
  pty.clear();
  pty.kill('nonsense');
  expect(pty.process).toEqual(expect.any(String));
  await session.exit();
  expect(pty.pid).toBeGreaterThan(0);
});

contract('destroy with queued input ends the session all the same', async () => {
  const session = script(`${raw} sleep 1000`);
  await session.printed('ready');
  session.pty.write(Buffer.alloc(1024 * 1024));
  session.pty.destroy();
  expect(await session.exit()).toEqual({ exitCode: 0, signal: 1 });
});

contract('a child that ignores the hangup keeps its own exit code', async () => {
  const session = script('trap "" HUP; echo ready; read line; exit 6');
  await session.printed('ready');
  session.pty.destroy();
  expect(await session.exit()).toEqual({ exitCode: 6, signal: 0 });
});

contract('clear does nothing', async () => {
  const session = script('stty -echo; echo ready; read line; echo "<$line>"');
  await session.printed('ready');
  expect(session.pty.clear()).toBeUndefined();
  session.pty.write('alive\r');
  await session.printed('<alive>');
});

contract('end is no end of input for the child, and output goes on', async () => {
  const session = script('stty -echo; echo ready; read x < /dev/tty || echo "<end>"; echo "<$x>"; read line');
  await session.printed('ready');
  session.pty.end();
  session.pty.write('alive\r');
  expect(await session.printed('<alive>')).not.toContain('<end>');
});

contract('end writes its argument', async () => {
  const session = script('stty -echo; echo ready; read line; echo "<$line>"; read line');
  await session.printed('ready');
  session.pty.end('last words\r');
  await session.printed('<last words>');
});

contract('pipe gives the destination and copies the output into it', async () => {
  const session = script('echo ready; read line; echo more; read line');
  const destination = new PassThrough();
  let copied = '';
  destination.on('data', (chunk) => (copied += chunk));
  expect(session.pty.pipe(destination)).toBe(destination);
  await session.printed('ready');
  session.pty.write('\r');
  await session.printed('more');
  await until('the copy is complete', () => copied === session.output);
});

contract('two terminals can be piped into each other\'s consumers with end: false', async () => {
  const destination = new PassThrough();
  let copied = '';
  destination.on('data', (chunk) => (copied += chunk));
  for (const word of ['one', 'two']) {
    const session = script(`echo ${word}; read line`);
    session.pty.pipe(destination, { end: false });
    await session.printed(word);
    await until('the copy has come', () => copied.includes(word));
    session.pty.kill('SIGKILL');
    await session.exit();
  }
  expect(copied).toBe('one\r\ntwo\r\n');
  expect(destination.writableEnded).toBe(false);
});

contract('fd is the open master of a terminal until the exit', async () => {
  const session = script('echo ready; read line');
  await session.printed('ready');
  expect(tty.isatty(session.pty.fd)).toBe(true);
  expect(fs.fstatSync(session.pty.fd).isCharacterDevice()).toBe(true);
});

contract.needing(linux)('after the exit the master is closed', async () => {
  const before = openFds();
  const session = script('exit 0');
  await session.exit();
  const masters = (): number[] => openFds().filter((fd) => !before.includes(fd) && tty.isatty(fd));
  await until('no terminal is open', () => masters().length === 0);
});

contract('ptsName is the terminal of the child, and master and slave are undefined', async () => {
  const session = script('tty');
  expect([session.pty.master, session.pty.slave]).toEqual([undefined, undefined]);
  const name = session.pty.ptsName;
  expect(name).toMatch(/^\/dev\//);
  expect((session.pty as any)._pty).toBe(name);
  expect((session.pty as any)._fd).toBe(session.pty.fd);
  await session.exit();
  expect(session.output).toBe(`${name}\r\n`);
});

contract('a terminal that was destroyed by its socket ends like any other', async () => {
  const session = script(waiting);
  await session.printed('ready');
  session.pty._socket.destroy();
  expect((await session.exit()).signal).toBe(1);
  expect((await run('sh', ['-c', 'exit 2'])).exit.exitCode).toBe(2);
});
