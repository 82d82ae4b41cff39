// createSandboxedPty: the same terminal, and errors at once.
import * as path from 'node:path';
import { children, linux, load, openFds, ours, refusal, temporaryDirectory, track, until, writeScript, type Session } from './support';

function create(options: object): Session {
  return track(load().createSandboxedPty(options));
}

ours('the options are those of spawn, with file and args among them', async () => {
  const session = create({
    file: 'sh', args: ['-c', 'stty size; echo "$TERM $WORD"; pwd; exit 3'],
    cols: 90, rows: 30, name: 'vt100', cwd: '/', env: { WORD: 'word', PATH: process.env['PATH'] },
  });
  expect(session.pty.pid).toBeGreaterThan(0);
  expect([session.pty.cols, session.pty.rows]).toEqual([90, 30]);
  expect(await session.exit()).toEqual({ exitCode: 3, signal: 0 });
  expect(session.output).toBe('30 90\r\nvt100 word\r\n/\r\n');
});

ours('the object is the same: input, size, signals, older events', async () => {
  const session = create({ file: 'sh', args: ['-c', 'stty -echo; echo ready; read line; stty size; read line'] });
  const seen: unknown[] = [];
  session.pty.on('exit', (...args) => seen.push(args));
  await session.printed('ready');
  session.pty.resize(70, 20);
  session.pty.write('\r');
  await session.printed('20 70');
  expect(session.pty.process).toBe('sh');
  session.pty.kill('SIGTERM');
  expect(await session.exit()).toEqual({ exitCode: 0, signal: 15 });
  expect(seen).toEqual([[0, 15]]);
});

ours('the program has been started when the call returns: its name is its own', () => {
  const session = create({ file: 'cat', args: [] });
  expect(session.pty.process).toBe('cat');
});

ours('arguments may be left out', async () => {
  const session = create({ file: 'tty' });
  await session.exit();
  expect(session.output).toBe(`${session.pty.ptsName}\r\n`);
});

function failureOf(options: object): any {
  let failure: unknown;
  try {
    create(options);
  } catch (error) {
    failure = error;
  }
  expect(failure).toBeDefined();
  return failure;
}

ours('a missing program throws a SandboxError at the stage exec', () => {
  for (const file of ['/nowhere/at-all', './not-here', 'no-such-program']) {
    // A PATH of its own: one that leads through somebody's private folder means "permission denied", as in execvp.
    const error = failureOf({ file, env: { PATH: '/usr/bin:/bin' } });
    expect(error).toMatchObject({ name: 'SandboxError', code: 'ENOENT', stage: 'exec', path: file });
    expect(Math.abs(error.errno)).toBe(2);
    expect(error.message).toContain(file);
    expect(error).toBeInstanceOf(load().SandboxError);
    expect(error.stack).toContain('SandboxError');
  }
});

ours('a missing directory throws a SandboxError at the stage cwd', () => {
  const error = failureOf({ file: 'sh', cwd: '/nowhere/at-all' });
  expect(error).toMatchObject({ name: 'SandboxError', code: 'ENOENT', stage: 'cwd', path: '/nowhere/at-all' });
  expect(error.message).toContain('/nowhere/at-all');
});

ours('a directory that is a file throws a SandboxError at the stage cwd', () => {
  expect(failureOf({ file: 'sh', cwd: '/dev/null' })).toMatchObject({ code: 'ENOTDIR', stage: 'cwd', path: '/dev/null' });
});

ours('a program without execute permission throws a SandboxError with EACCES', () => {
  const file = writeScript(path.join(temporaryDirectory(), 'text'), '#!/bin/sh\n', 0o644);
  expect(failureOf({ file })).toMatchObject({ name: 'SandboxError', code: 'EACCES', stage: 'exec', path: file });
  expect(failureOf({ file: '/' })).toMatchObject({ code: 'EACCES', stage: 'exec', path: '/' });
});

ours('a missing program is missing in the PATH of the child', () => {
  expect(failureOf({ file: 'sh', env: { PATH: '/nowhere' } })).toMatchObject({ code: 'ENOENT', stage: 'exec', path: 'sh' });
});

ours('a SandboxError is an Error for those who check with instanceof', () => {
  const { SandboxError } = load();
  expect(Object.getPrototypeOf(SandboxError.prototype).constructor.name).toBe('Error');
  expect(SandboxError.name).toBe('SandboxError');
});

ours.needing(linux)('a failed start leaves no process and no descriptor, and later starts work', async () => {
  const [processes, fds] = [children(), openFds()];
  for (let i = 0; i < 20; i++) failureOf({ file: '/nowhere/at-all' });
  await until('no process is left', () => children().every((pid) => processes.includes(pid)));
  expect(openFds().filter((fd) => !fds.includes(fd))).toEqual([]);
  const session = create({ file: 'sh', args: ['-c', 'exit 4'] });
  expect((await session.exit()).exitCode).toBe(4);
});

ours('spawn keeps node-pty\'s late way of telling', async () => {
  const session = track(load().spawn('/nowhere/at-all', [], {}));
  expect(await session.exit()).toEqual({ exitCode: 1, signal: 0 });
});

ours('what would be ignored, and mean another session than the caller had in mind, is refused', () => {
  const api = load();
  for (const name of ['sandbox', 'projectSettings', 'permissions']) {
    expect(refusal(() => api.spawn('sh', [], { [name]: {} })).message).toMatch(/belongs to createSandboxedPty/);
  }
  for (const ids of [{ uid: 1 }, { gid: 1 }, { uid: 1, gid: -1 }]) {
    expect(refusal(() => api.createSandboxedPty({ file: 'sh', ...ids })).message).toBe('uid and gid must be given together');
  }
  expect(refusal(() => api.createSandboxedPty({ file: 'sh', keepAliveAfterExit: 'yes' as never })).message).toMatch(/keepAliveAfterExit/);
});
