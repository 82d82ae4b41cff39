// What a confined session leaves behind: nothing.
import * as fs from 'node:fs';
import * as path from 'node:path';
import {
  confined,
  linux,
  load,
  openFds,
  ours,
  privateTemps,
  refusal,
  resultOf,
  script,
  temporaryDirectory,
  until,
  type Session,
} from './support';

const sandboxed = ours.needing(linux);
const workspace = { profile: 'workspace' };

/** A session that has written into its private temporary directory, and that directory. */
async function withFiles(rest = 'read line'): Promise<{ session: Session; directory: string }> {
  const session = confined(`mkdir -p "$TMPDIR/a/b" && echo text > "$TMPDIR/a/b/file" && echo "<$TMPDIR>"; ${rest}`, workspace);
  const text = await session.printed('>');
  const directory = (/<(.*)>/.exec(text) as RegExpExecArray)[1] as string;
  expect(fs.readFileSync(path.join(directory, 'a/b/file'), 'utf8')).toBe('text\n');
  expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
  return { session, directory };
}

sandboxed('the private temporary directory ends with its session', async () => {
  const { session, directory } = await withFiles();
  session.pty.write('\r');
  await session.exit();
  await until('the directory is removed', () => !fs.existsSync(directory));
});

sandboxed('it is gone after a kill, and after a hangup', async () => {
  for (const end of [(session: Session) => session.pty.kill('SIGKILL'), (session: Session) => session.pty.destroy()]) {
    const { session, directory } = await withFiles();
    end(session);
    await session.exit();
    await until('the directory is removed', () => !fs.existsSync(directory));
  }
});

sandboxed('it is gone although the session has locked itself out of it', async () => {
  const { session, directory } = await withFiles('read line; chmod 000 "$TMPDIR/a/b" "$TMPDIR/a" "$TMPDIR"; echo locked; read line');
  session.pty.write('\r');
  await session.printed('locked');
  session.pty.kill('SIGKILL');
  await session.exit();
  await until('the directory is removed', () => !fs.existsSync(directory));
});

sandboxed('it is gone when the host is killed', async () => {
  const directory = await resultOf((_pty, _kernel, { module, projectDir }) => {
    const { spawn } = require('node:child_process');
    const code = `
      const child = require(${JSON.stringify(module)}).createSandboxedPty({ file: '/bin/sh', args: ['-c', 'echo "<$TMPDIR>"; read line'],
        projectDir: ${JSON.stringify(projectDir)}, sandbox: { enabled: true, profile: 'workspace' } });
      child.onData((data) => process.stdout.write(data));`;
    const inner = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    return new Promise((resolve) => {
      let text = '';
      inner.stdout.on('data', (chunk: Buffer) => {
        text += chunk;
        if (text.includes('>')) inner.kill('SIGKILL');
      });
      inner.on('exit', () => resolve((/<(.*)>/.exec(text) as RegExpExecArray)[1]));
    });
  }, { arg: { module: path.join(__dirname, '../../dist/index.js'), projectDir: temporaryDirectory() } });
  await until('the directory is removed', () => !fs.existsSync(directory));
});

sandboxed('a failed start leaves no temporary directory', () => {
  const before = privateTemps();
  const base = { file: '/bin/true', projectDir: temporaryDirectory(), sandbox: { enabled: true, profile: 'workspace' } };
  for (const changes of [
    { file: '/nowhere' },
    { cwd: '/nowhere' },
    { projectDir: '/nowhere' },
    { sandbox: { ...base.sandbox, git_access: 'commit' } },
    { sandbox: { ...base.sandbox, limits: { processes: 5 } } },
  ]) {
    refusal(() => load().createSandboxedPty({ ...base, ...changes }));
    expect({ changes, left: privateTemps() }).toEqual({ changes, left: before });
  }
});

sandboxed('the descriptors of the policy are closed as soon as the session runs', async () => {
  const plain = script('echo ready; read line');
  await plain.printed('ready');
  const warm = confined('echo ready; read line');
  await warm.printed('ready');
  const before = openFds();
  const another = script('echo ready; read line');
  await another.printed('ready');
  const perPlainSession = openFds().length - before.length;
  const between = openFds();
  const session = confined('echo ready; read line', workspace);
  await session.printed('ready');
  const added = openFds().filter((fd) => !between.includes(fd));
  expect(added).toHaveLength(perPlainSession);
  const links = added.map((fd) => fs.readlinkSync(`/proc/self/fd/${fd}`));
  // Its cgroup's files are held for as long as it runs: to end it with, should somebody kill the keeper.
  const expected = /^\/dev\/|\/sandboxed-pty-\d+-\d+-\w+-\w+-\d+\/cgroup\./;
  expect(links.filter((link) => link.startsWith('/') && !expected.test(link))).toEqual([]);
  expect(links.join()).not.toContain('landlock');
  warm.pty.kill('SIGKILL');
});

sandboxed('of many that start in one turn only the last one holds the descriptors of its policy, until the next turn', async () => {
  const first = confined('echo ready; read line', workspace);
  await first.printed('ready');
  const held: number[] = [];
  for (const count of [1, 5]) {
    const sessions = Array.from({ length: count }, () => confined('read line', workspace));
    const during = openFds().length;
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    held.push(during - openFds().length);
    for (const { pty } of sessions) pty.kill('SIGKILL');
    await Promise.all(sessions.map((session) => session.exit()));
  }
  expect(held[0]).toBeGreaterThan(10);
  expect(held[1]).toBe(held[0]);
});

sandboxed('200 confined sessions leave no descriptor, thread, child or temporary file', async () => {
  const left = await resultOf(
    async (pty, kernel, projectDir) => {
      const { readdirSync } = require('node:fs');
      const temps = (): number =>
        readdirSync(require('node:os').tmpdir()).filter((name: string) => name.startsWith(`sandboxed-pty-${process.pid}-`)).length;
      const held = (): Record<string, number> => ({
        fds: kernel.openFds().length,
        threads: kernel.threads(),
        children: kernel.children().length,
        temps: temps(),
      });
      const once = (i: number): Promise<unknown> => {
        const sandbox = { enabled: true, profile: i % 2 ? 'workspace' : 'terminal' };
        const child = pty.createSandboxedPty({ file: '/bin/sh', args: ['-c', i % 3 ? 'echo output' : 'read line'], projectDir, sandbox });
        if (i % 3 === 0) setImmediate(() => child.kill('SIGKILL'));
        return new Promise((resolve) => child.onExit(resolve));
      };
      for (let i = 0; i < 6; i++) await once(i);
      let before = held();
      await kernel.until('the last round is over', () => {
        const now = held();
        const settled = JSON.stringify(now) === JSON.stringify(before);
        before = now;
        return settled;
      });
      for (let i = 0; i < 200; i++) await once(i);
      const more = (): Record<string, number> =>
        Object.fromEntries(Object.entries(held()).map(([name, value]) => [name, Math.max(0, value - (before[name] ?? 0))]));
      await kernel.until('everything is gone', () => Object.values(more()).every((value) => value === 0)).catch(() => {});
      return more();
    },
    { arg: temporaryDirectory() },
  );
  expect(left).toEqual({ fds: 0, threads: 0, children: 0, temps: 0 });
});

sandboxed('200 refused sessions leave nothing either', async () => {
  const left = await resultOf(
    async (pty, kernel, projectDir) => {
      const attempt = (): void => {
        try {
          pty.createSandboxedPty({ file: '/nowhere', projectDir, sandbox: { enabled: true, profile: 'workspace' } });
        } catch (error) {
          if ((error as any).stage !== 'exec') throw error;
        }
      };
      for (let i = 0; i < 5; i++) attempt();
      await kernel.until('no child is left', () => kernel.children().length === 0);
      const before = kernel.openFds().length;
      for (let i = 0; i < 200; i++) attempt();
      await kernel.until('no child is left', () => kernel.children().length === 0);
      const temps = require('node:fs').readdirSync(require('node:os').tmpdir());
      return {
        fds: kernel.openFds().length - before,
        temps: temps.filter((name: string) => name.startsWith(`sandboxed-pty-${process.pid}-`)).length,
      };
    },
    { arg: temporaryDirectory() },
  );
  expect(left).toEqual({ fds: 0, temps: 0 });
});
