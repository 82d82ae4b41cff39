import * as fs from 'node:fs';
import * as path from 'node:path';
import {
  better, contract, isRunning, linux, openFds, resultOf, run, script, start, stat, status, temporaryDirectory, until, writeScript,
} from './support';

contract.needing(linux)('argv[0] is the file as given', async () => {
  const session = start('sh', ['-c', 'tr "\\0" "|" < /proc/$$/cmdline']);
  await session.exit();
  expect(session.output).toBe('sh|-c|tr "\\0" "|" < /proc/$$/cmdline|');
});

contract('arguments pass unchanged: empty ones, spaces, quotes, wildcards, other scripts', async () => {
  const args = ['', ' a  b ', `'"\\`, '*', '$HOME', '-n', 'é日本😀'];
  const session = script('for arg; do printf "[%s]" "$arg"; done', {}, ...args);
  await session.exit();
  expect(session.output).toBe(args.map((arg) => `[${arg}]`).join(''));
});

contract('a long argument passes', async () => {
  const session = script('printf %s "${#1}"', {}, 'x'.repeat(100_000));
  await session.exit();
  expect(session.output).toBe('100000');
});

contract('a file without a slash is searched in the PATH of the child', async () => {
  const dir = temporaryDirectory();
  writeScript(path.join(dir, 'greet'), '#!/bin/sh\necho hello\n');
  expect(await run('greet', [], { env: { PATH: `/nowhere:${dir}` } })).toEqual({
    output: 'hello\r\n',
    exit: { exitCode: 0, signal: 0 },
  });
});

contract('the PATH of the host plays no part', async () => {
  const dir = temporaryDirectory();
  writeScript(path.join(dir, 'greet'), '#!/bin/sh\necho hello\n');
  const env = { ...process.env, PATH: `${dir}:${process.env['PATH']}` };
  const exitCode = await resultOf(
    (pty) => new Promise((resolve) => pty.spawn('greet', [], { env: { PATH: '/nowhere' } }).onExit((exit) => resolve(exit.exitCode))),
    { env },
  );
  expect(exitCode).toBe(1);
});

contract('without any PATH the system default is searched', async () => {
  expect((await run('sh', ['-c', 'exit 9'], { env: {} })).exit.exitCode).toBe(9);
});

contract('an empty PATH element means the working directory of the child', async () => {
  const dir = temporaryDirectory();
  writeScript(path.join(dir, 'greet'), '#!/bin/sh\necho hello\n');
  expect((await run('greet', [], { cwd: dir, env: { PATH: ':/bin' } })).output).toBe('hello\r\n');
});

contract('the search goes on after a file that may not be executed', async () => {
  const [first, second] = [temporaryDirectory(), temporaryDirectory()];
  writeScript(path.join(first, 'greet'), '#!/bin/sh\necho wrong\n', 0o644);
  writeScript(path.join(second, 'greet'), '#!/bin/sh\necho right\n');
  expect((await run('greet', [], { env: { PATH: `${first}:${second}` } })).output).toBe('right\r\n');
});

contract('an executable text without an interpreter line is run by sh, with its arguments', async () => {
  const file = writeScript(path.join(temporaryDirectory(), 'plain'), 'echo "plain $1"; exit 2\n');
  expect(await run(file, ['text'])).toEqual({ output: 'plain text\r\n', exit: { exitCode: 2, signal: 0 } });
});

contract('a relative file is looked up from the working directory of the child', async () => {
  const dir = temporaryDirectory();
  fs.mkdirSync(path.join(dir, 'sub'));
  writeScript(path.join(dir, 'sub', 'greet'), '#!/bin/sh\necho hello\n');
  for (const file of ['sub/greet', './sub/greet']) {
    expect((await run(file, [], { cwd: dir })).output).toBe('hello\r\n');
  }
});

contract.needing(linux)('a relative cwd starts from the current directory of the host, and PWD says what was given', async () => {
  const dir = temporaryDirectory();
  fs.mkdirSync(path.join(dir, 'sub'));
  const output = await resultOf(
    (pty, _kernel, where: string) => {
      process.chdir(where);
      return new Promise((resolve) => {
        let text = '';
        const child = pty.spawn('sh', ['-c', 'readlink /proc/$$/cwd; tr "\\0" "\\n" < /proc/$$/environ | grep ^PWD='], { cwd: 'sub' });
        child.onData((data) => (text += data));
        child.onExit(() => resolve(text));
      });
    },
    { arg: dir },
  );
  expect(output).toBe(`${path.join(dir, 'sub')}\r\nPWD=sub\r\n`);
});

contract.needing(linux)('the child leads its own session and group, in the foreground of its own terminal', async () => {
  const session = script('echo ready; read line');
  await session.printed('ready');
  const { pid } = session.pty;
  expect(stat(pid)).toMatchObject({ pgrp: pid, session: pid, foreground: pid });
  expect(stat(pid).tty).not.toBe(0);
  expect(stat(pid).session).not.toBe(stat(process.pid).session);
});

contract('the terminal is the controlling one: /dev/tty opens', async () => {
  const session = script('exec > /dev/null; echo through the back door > /dev/tty');
  await session.exit();
  expect(session.output).toBe('through the back door\r\n');
});

contract('input, output and error output are the terminal that ptsName names', async () => {
  const session = script('tty; tty <&1; tty <&2');
  await session.exit();
  const name = session.pty.ptsName;
  expect(session.output).toBe(`${name}\r\n${name}\r\n${name}\r\n`);
});

contract('the pid is that of the shell, also for who asks after the exit', async () => {
  const early = script('echo $$');
  const { pid } = early.pty;
  await early.exit();
  expect(early.output).toBe(`${pid}\r\n`);
  const late = script('echo $$');
  await late.exit();
  expect(late.output).toBe(`${late.pty.pid}\r\n`);
});

contract('a negative pid signals the whole group', async () => {
  const session = script('sleep 1000 & echo "inner=$!."; wait');
  const inner = Number(/inner=(\d+)\./.exec(await session.printed('.'))?.[1]);
  process.kill(-session.pty.pid, 'SIGTERM');
  expect(await session.exit()).toEqual({ exitCode: 0, signal: 15 });
  await until('the inner process has ended', () => !isRunning(inner));
});

contract.needing(linux)('every signal has its default effect and none is blocked', async () => {
  // node ignores SIGPIPE and handles others: none of that may reach the child.
  const session = start('cat', []);
  session.pty.write('ready\r');
  await session.printed('ready', 2); // the echo, then the copy by cat
  for (const field of ['SigBlk', 'SigIgn', 'SigCgt', 'SigPnd']) {
    expect([field, status(session.pty.pid, field)]).toEqual([field, '0000000000000000']);
  }
});

contract('a signal that the host ignores still ends the child', async () => {
  const exit = await resultOf(
    (pty, kernel) => {
      process.on('SIGTERM', () => {});
      const child = pty.spawn('cat', [], {});
      let output = '';
      child.onData((data) => (output += data));
      child.write('x\r');
      const exited = new Promise((resolve) => child.onExit(resolve));
      return kernel.until('cat runs', () => output.split('x').length === 3).then(() => child.kill('SIGTERM')).then(() => exited);
    },
  );
  expect(exit).toEqual({ exitCode: 0, signal: 15 });
});

better.needing(linux)('descriptors 0, 1 and 2 reach the child, and no others of the host', async () => {
  const found = await resultOf(
    (pty, kernel) => {
      const flags = require('node:fs').readFileSync('/proc/self/fdinfo/100', 'utf8').match(/flags:\s*(\d+)/)[1];
      const child = pty.spawn('sh', ['-c', 'echo ready; read line'], {});
      return new Promise((resolve) => {
        child.onData((data) => {
          if (!data.includes('ready')) return;
          resolve({ inheritable: (parseInt(flags, 8) & 0o2000000) === 0, fds: kernel.openFds(child.pid) });
          child.kill('SIGKILL');
        });
      });
    },
    // Beyond a gap, where node does not mark what it inherited as close-on-exec.
    { inherit: { 100: openForHost() } },
  );
  expect(found).toEqual({ inheritable: true, fds: [0, 1, 2] });
});

function openForHost(): number {
  const fd = fs.openSync('/dev/null', 'r');
  hostFds.push(fd);
  return fd;
}

const hostFds: number[] = [];
afterEach(() => hostFds.splice(0).forEach((fd) => fs.closeSync(fd)));

contract.needing(linux)('the other terminals of the host do not reach a child', async () => {
  const first = script('read line');
  const second = script('echo ready; read line');
  await second.printed('ready');
  const { pid } = second.pty;
  const reached = openFds(pid).map((fd) => fs.readlinkSync(`/proc/${pid}/fd/${fd}`));
  expect(reached).not.toContain(first.pty.ptsName);
  expect(reached.filter((file) => file.endsWith('ptmx'))).toEqual([]);
});

contract.needing(linux)('umask and resource limits are those of the host', async () => {
  const kept = await resultOf(
    (pty, kernel) => {
      process.umask(0o027);
      const fs = require('node:fs');
      const child = pty.spawn('sh', ['-c', 'umask; echo ready; read line'], {});
      let output = '';
      child.onData((data) => (output += data));
      return kernel.until('the child runs', () => output.includes('ready')).then(() => {
        const limits = [process.pid, child.pid].map((pid) => fs.readFileSync(`/proc/${pid}/limits`, 'utf8'));
        child.kill('SIGKILL');
        return { umask: output.split('\r\n')[0], limits };
      });
    },
    { through: ['sh', '-c', 'ulimit -S -s 4096; ulimit -c 0; ulimit -S -f 100000; exec "$@"', 'sh'] },
  );
  expect(kept.umask).toBe('0027');
  expect(kept.limits[0]).toContain('4194304');
  expect(kept.limits[1]).toBe(kept.limits[0]);
});
