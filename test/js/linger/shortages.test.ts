// A machine that has too little of something: the error says of what, nothing is left, and the next session works.
import { linux, ours, resultOf, root, temporaryDirectory, unprivileged, type Body } from '../support';

const sandboxed = ours.needing(linux);

const fullDisk: Body = async (pty, kernel, { projectDir }) => {
  const { execFileSync } = require('node:child_process') as typeof import('node:child_process');
  const temp = process.env['TMPDIR'] as string;
  const start = (profile: string) =>
    pty.createSandboxedPty({
      file: '/bin/sh',
      args: ['-c', 'exit 3'],
      projectDir,
      sandbox: { enabled: true, profile },
    });
  const attempt = async (profile: string) => {
    try {
      const session = start(profile);
      return await new Promise((resolve) => session.onExit(({ exitCode }: { exitCode: number }) => resolve(exitCode)));
    } catch (error) {
      const { code, path } = error as { code: string; path: string };
      return `${code} below ${path.startsWith(temp) ? 'TMPDIR' : path}`;
    }
  };
  const full = await attempt('workspace');
  // Its keeper notices that the host has given up a moment later.
  await kernel.until('no child is left', () => kernel.children().length === 0);
  const without = await attempt('terminal');
  execFileSync('mount', ['-o', 'remount,nr_inodes=100', temp]);
  const again = await attempt('workspace');
  await kernel.until('no keeper is left', () => kernel.children().length === 0);
  const left = (require('node:fs') as typeof import('node:fs')).readdirSync(temp);
  return { full, without, again, left };
};

sandboxed.needing(root)(
  'a full disk for temporary files is told, and only those who need one are refused',
  async () => {
    const temp = temporaryDirectory();
    // The root of this file system is the only file that it has room for.
    const mount = 'mount -t tmpfs -o nr_inodes=1 none "$0" && exec "$@"';
    const through = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mount, temp];
    const env = { ...process.env, TMPDIR: temp };
    const outcome = await resultOf(fullDisk, { arg: { projectDir: temporaryDirectory() }, through, env });
    expect(outcome).toEqual({ full: 'ENOSPC below TMPDIR', without: 3, again: 3, left: [] });
  },
);

const fewProcesses: Body = async (pty, kernel, { projectDir }) => {
  const { spawn } = require('node:child_process') as typeof import('node:child_process');
  const fs = require('node:fs') as typeof import('node:fs');
  // Started before, as later nothing can be: sets the limit of this process, not its own.
  const helper = spawn('sh', [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const limitTo = (count: number | string) =>
    new Promise<void>((resolve) => {
      helper.stdout.once('data', () => resolve());
      helper.stdin.write(`prlimit --pid ${process.pid} --nproc=${count}: && echo done\n`);
    });
  const used = () => {
    let tasks = 0;
    for (const name of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (fs.statSync(`/proc/${name}`).uid === process.getuid?.())
          tasks += fs.readdirSync(`/proc/${name}/task`).length;
      } catch {
        // It has ended.
      }
    }
    return tasks;
  };
  const sandbox = { enabled: true, profile: 'workspace' };
  const outcomes: string[] = [];
  const attempt = async () => {
    try {
      const session = pty.createSandboxedPty({ file: '/bin/sh', args: ['-c', 'exit 3'], projectDir, sandbox });
      // What the keeper cannot do after the call has returned is told in the terminal.
      let output = '';
      session.onData((data: string) => (output += data));
      return await new Promise<string>((resolve) =>
        session.onExit(({ exitCode }: { exitCode: number }) => resolve(`${output}exit ${exitCode}`)),
      );
    } catch (error) {
      const { code, stage } = error as { code: string; stage: string };
      await kernel.until('only the helper is left', () => kernel.children().join() === `${helper.pid}`);
      return `${code} at ${stage}`;
    }
  };
  const earlier = pty.createSandboxedPty({ file: '/bin/sh', args: ['-c', 'read line'], projectDir, sandbox });
  await limitTo(1);
  // Ends it, but who would tell? No thread can be created now.
  const disposed = (earlier as unknown as { dispose(): Promise<{ converged: boolean }> }).dispose();
  outcomes.push(await attempt());
  // From none to enough, so that each that is created is the first that cannot be; others come and go meanwhile.
  for (let more = -3; more <= 60 && !(outcomes.at(-1) === 'exit 3' && outcomes.at(-2) === 'exit 3'); more++) {
    await limitTo(used() + more);
    outcomes.push(await attempt());
  }
  await kernel.until('only the helper is left', () => kernel.children().join() === `${helper.pid}`);
  helper.stdin.end();
  const { converged } = await disposed;
  return {
    outcomes,
    converged,
    temps: fs
      .readdirSync(require('node:os').tmpdir())
      .filter((name: string) => name.startsWith(`sandboxed-pty-${process.pid}-`)),
  };
};

sandboxed.needing(unprivileged)('a user with no process left is told, at every step, and nothing is left', async () => {
  const { outcomes, converged, temps } = await resultOf(fewProcesses, { arg: { projectDir: temporaryDirectory() } });
  expect(outcomes[0]).toBe('EAGAIN at keeper');
  expect(outcomes.at(-1)).toBe('exit 3');
  expect(
    outcomes.filter(
      (outcome: string) =>
        !/^(EAGAIN at (keeper|confinement|pump|fork|gate)|(fork|gate) failed\.: Resource temporarily unavailable\r\nexit 1|exit 3)$/.test(outcome),
    ),
  ).toEqual([]);
  expect(temps).toEqual([]);
  expect(converged).toBe(true);
});

const stormy: Body = async (pty, kernel, { projectDir }) => {
  const { spawn } = require('node:child_process') as typeof import('node:child_process');
  let signals = 0;
  process.on('SIGUSR2', () => (signals += 1));
  const storm = spawn('sh', ['-c', `while kill -USR2 ${process.pid}; do :; done`], { stdio: 'ignore' });
  const sums = new Set<number>();
  let converged = 0;
  const sandbox = { enabled: true, profile: 'workspace' };
  for (let i = 0; i < 20; i++) {
    const confinement = i % 2 === 0 ? { projectDir, sandbox } : {};
    const session = pty.createSandboxedPty({ file: '/bin/sh', args: ['-c', 'seq 1 3000; read line'], ...confinement });
    let output = '';
    await new Promise<void>((resolve) =>
      session.onData((data: string) => {
        output += data;
        if (output.endsWith('3000\r\n')) resolve();
      }),
    );
    sums.add(output.length);
    converged += (await (session as unknown as { dispose(): Promise<{ converged: boolean }> }).dispose()).converged
      ? 1
      : 0;
  }
  storm.kill('SIGKILL');
  await new Promise((resolve) => storm.once('exit', resolve));
  await kernel.until('no child is left', () => kernel.children().length === 0);
  return { sums: [...sums], converged, stormy: signals > 0 };
};

sandboxed('a storm of signals interrupts nothing for good', async () => {
  const length = Array.from({ length: 3000 }, (_, i) => `${i + 1}\r\n`).join('').length;
  const outcome = await resultOf(stormy, { arg: { projectDir: temporaryDirectory() } });
  expect(outcome).toEqual({ sums: [length], converged: 20, stormy: true });
});
