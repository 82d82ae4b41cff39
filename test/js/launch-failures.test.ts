// spawn() never throws for what the system refuses: the reason is printed in the terminal, and the exit code is 1.
import * as path from 'node:path';
import { children, contract, linux, load, resultOf, run, temporaryDirectory, track, unprivileged, until, writeScript } from './support';

const failed = { exitCode: 1, signal: 0 };

contract('a missing program is told in the terminal', async () => {
  for (const file of ['/nowhere/at-all', './not-here', 'no-such-program']) {
    expect(await run(file, [], { env: { PATH: '/usr/bin:/bin' } })).toEqual({ output: 'execvp(3) failed.: No such file or directory\r\n', exit: failed });
  }
});

contract('a missing working directory is told in the terminal', async () => {
  expect(await run('sh', [], { cwd: '/nowhere/at-all' })).toEqual({
    output: 'chdir(2) failed.: No such file or directory\r\n',
    exit: failed,
  });
});

contract('a working directory that is a file is told in the terminal', async () => {
  expect(await run('sh', [], { cwd: '/dev/null' })).toEqual({ output: 'chdir(2) failed.: Not a directory\r\n', exit: failed });
});

contract('a program without execute permission is told in the terminal, by path and by name', async () => {
  const dir = temporaryDirectory();
  const file = writeScript(path.join(dir, 'text'), '#!/bin/sh\n', 0o644);
  const expected = { output: 'execvp(3) failed.: Permission denied\r\n', exit: failed };
  expect(await run(file, [])).toEqual(expected);
  expect(await run('text', [], { env: { PATH: `${dir}:/nowhere` } })).toEqual(expected);
});

contract('a directory is no program', async () => {
  expect(await run('/', [])).toEqual({ output: 'execvp(3) failed.: Permission denied\r\n', exit: failed });
});

contract('a missing interpreter is told like a missing program', async () => {
  const file = writeScript(path.join(temporaryDirectory(), 'script'), '#!/nowhere/interpreter\n');
  expect(await run(file, [])).toEqual({ output: 'execvp(3) failed.: No such file or directory\r\n', exit: failed });
});

contract.needing(linux)('arguments beyond the limit of the kernel are told in the terminal', async () => {
  const expected = { output: 'execvp(3) failed.: Argument list too long\r\n', exit: failed };
  const args = ['-c', ':', 'x'.repeat(200_000)];
  expect(await run('/bin/sh', args)).toEqual(expected);
  // Also when an earlier place of the PATH has a file of that name that may not be executed.
  const dir = temporaryDirectory();
  writeScript(path.join(dir, 'sh'), '', 0o644);
  expect(await run('sh', args, { env: { PATH: `${dir}:/usr/bin:/bin` } })).toEqual(expected);
});

contract.needing(unprivileged)('a user that may not be taken is told in the terminal', async () => {
  const { output, exit } = await run('sh', [], { uid: 0, gid: 0 });
  expect(output).toBe('setgid(2) failed.: Operation not permitted\r\n');
  expect(exit).toEqual(failed);
});

contract('a failed start has a pid, the file as its process name, and leaves no child', async () => {
  const before = children();
  const session = track(load().spawn('/nowhere/at-all', [], {}));
  expect(session.pty.pid).toBeGreaterThan(0);
  await session.exit();
  expect(session.pty.process).toBe('/nowhere/at-all');
  await until('no child is left', () => children().every((pid) => before.includes(pid)));
});

contract('a failed start takes calls like any other terminal', async () => {
  const session = track(load().spawn('/nowhere/at-all', [], {}));
  session.pty.write('input');
  session.pty.resize(100, 50);
  session.pty.pause();
  session.pty.resume();
  session.pty.clear();
  expect(await session.exit()).toEqual(failed);
});

contract.needing(linux)('a host without free descriptors gets an error at once, and can start again later', async () => {
  const outcome = await resultOf(
    async (pty, kernel) => {
      const fs = require('node:fs');
      const exitOf = (): Promise<unknown> => new Promise((resolve) => pty.spawn('sh', ['-c', 'exit 3'], {}).onExit(({ exitCode }) => resolve(exitCode)));
      const first = await exitOf();
      await kernel.until('it is all over', () => kernel.children().length === 0);
      const taken: number[] = [];
      try {
        for (;;) taken.push(fs.openSync('/dev/null'));
      } catch {
        // None is left.
      }
      let thrown = 'nothing';
      try {
        pty.spawn('sh', ['-c', 'exit 3'], {});
      } catch (error) {
        thrown = typeof (error as Error).message;
      }
      for (const fd of taken) fs.closeSync(fd);
      const children = kernel.children().length;
      return { first, thrown, children, last: await exitOf() };
    },
    { through: ['sh', '-c', 'ulimit -n 80; exec "$@"', 'sh'] },
  );
  expect(outcome).toEqual({ first: 3, thrown: 'string', children: 0, last: 3 });
});
