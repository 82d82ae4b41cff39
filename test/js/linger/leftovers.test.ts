// What is left when those who should tidy up are killed, and what must not be taken for that.
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import {
  children, confined, linux, load, ours, privateTemps, resultOf, root, startHost, stat, temporaryDirectory, track, until, type Body,
} from '../support';
import {
  bearers, cgroupOf, endBearers, hierarchy, kinds, leavesOf, lingerer, mechanismsOf, newToken, startKind, type DisposableSession, type Kind,
} from './support';

const sandboxed = ours.needing(linux);

function cgroupWritable(): boolean {
  try {
    fs.accessSync(path.join(cgroupOf('self'), 'cgroup.procs'), fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const unified = { met: hierarchy !== undefined && cgroupWritable(), reason: 'needs a writable cgroup' };
const unshare = { met: fs.existsSync('/usr/bin/unshare'), reason: 'needs unshare' };

/** The names of a process's private temporary directories. */
const tempsOf = (host: number): string[] => fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith(`sandboxed-pty-${host}-`));

const fillTemp = 'mkdir -p "$TMPDIR/a/b"; echo text > "$TMPDIR/a/b/file"; ln -s / "$TMPDIR/a/link"; echo filled; read line';

sandboxed.needing(unified)('the private directory of a session whose keeper was killed goes with the session', async () => {
  const session = confined(fillTemp, { profile: 'workspace' }) as unknown as DisposableSession;
  await session.printed('filled');
  expect(mechanismsOf(session)).toContain('cgroup');
  const [temp] = privateTemps() as [string];
  expect(fs.readFileSync(path.join(os.tmpdir(), temp, 'a/b/file'), 'utf8')).toBe('text\n');
  process.kill(stat(session.pty.pid).ppid, 'SIGKILL');
  const report = await session.pty.dispose();
  expect(report).toMatchObject({ converged: true, problem: expect.stringMatching(/keeper/) as string });
  expect(report.problem).not.toMatch(/removed/);
  expect(privateTemps()).toEqual([]);
});

/** A confined session with something in its private directory; then it waits to be killed. */
const fill: Body = async (pty, _kernel, { text, projectDir }) => {
  const options = { file: '/bin/sh', args: ['-c', text], cwd: projectDir, projectDir, sandbox: { enabled: true, profile: 'workspace' } };
  const child = pty.createSandboxedPty(options);
  child.onData((data: string) => process.stdout.write(data));
};

sandboxed('what a host leaves that is killed together with its keeper is removed by the next one', async () => {
  const host = startHost(fill, { arg: { text: fillTemp, projectDir: temporaryDirectory() } });
  await host.printed('filled');
  const [temp] = tempsOf(host.pid) as [string];
  const [keeper] = children(host.pid) as [number];
  const [shell] = children(keeper) as [number];
  const leaf = hierarchy === undefined ? undefined : cgroupOf(shell);
  // Stopped first: it must not hear of its host's end.
  process.kill(keeper, 'SIGSTOP');
  host.kill('SIGKILL');
  await host.end();
  process.kill(keeper, 'SIGKILL');
  expect(fs.existsSync(path.join(os.tmpdir(), temp, 'a/b/file'))).toBe(true);
  // Names that only look like it.
  const strange = fs.mkdtempSync(path.join(os.tmpdir(), `sandboxed-pty-${host.pid}-1-`));
  try {
    const { warnings, ended } = await resultOf(
      async (pty, kernel, { projectDir, temp, shell, leaf }) => {
        const told: string[] = [];
        process.on('warning', ({ message }) => told.push(message));
        const sandbox = { enabled: true, profile: 'workspace' };
        const child = pty.createSandboxedPty({ file: '/bin/sh', args: ['-c', 'read line'], cwd: projectDir, projectDir, sandbox }) as any;
        await kernel.until('the directory is gone', () => !require('node:fs').existsSync(temp));
        const cgroup = child.tracking.mechanisms.includes('cgroup');
        if (cgroup) {
          await kernel.until('the session is gone', () => !kernel.isRunning(shell));
          // Removed after the last of its processes, by a thread that would end with this one.
          await kernel.until('its cgroup is gone', () => !require('node:fs').existsSync(leaf));
        }
        await child.dispose();
        return { warnings: told, ended: cgroup };
      },
      { arg: { projectDir: temporaryDirectory(), temp: path.join(os.tmpdir(), temp), shell, leaf } },
    );
    expect(warnings).toEqual([]);
    expect(fs.existsSync(strange)).toBe(true);
    if (ended) expect(leavesOf(host.pid)).toEqual([]);
    else process.kill(shell, 'SIGKILL');
  } finally {
    fs.rmdirSync(strange);
  }
});

sandboxed.needing(root, unified, unshare)('the sessions of a host in another pid namespace are left alone', async () => {
  const inside: Body = async (pty) => {
    const child = pty.spawn('/bin/sh', ['-c', 'stty -echo; echo ready; read line; echo "alive: $line"'], {});
    child.onData((data: string) => process.stdout.write(data));
    child.onExit(({ signal }) => process.exit(signal === 0 ? 0 : 1));
    process.stdin.once('data', () => child.write('yes\r'));
  };
  const host = startHost(inside, { through: ['/usr/bin/unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] });
  await host.printed('ready');
  // An owner that never was, in our own place: when this one is gone, the sweep has seen all.
  const session = startKind(kinds[2] as Kind, '/bin/sh', ['-c', 'read line']);
  const [leaf] = leavesOf(process.pid) as [string];
  const place = leaf.split('-')[4] as string;
  const decoy = path.join(path.dirname(cgroupOf(session.pty.pid)), `sandboxed-pty-${process.pid}-1-${place}-0-0`);
  fs.mkdirSync(decoy);
  await session.pty.dispose();
  const answer = await resultOf(async (pty, kernel, path) => {
    const child = pty.spawn('/bin/sh', ['-c', 'read line'], {}) as any;
    await kernel.until('the sweep is over', () => !require('node:fs').existsSync(path));
    return (await child.dispose()).converged;
  }, { arg: decoy });
  expect(answer).toBe(true);
  host.say('go');
  const end = await host.end();
  expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('alive: yes') as string });
});

// Linux 6.14 and newer kill the child of a process in such a cgroup at its birth, if it is born into another one.
sandboxed.needing(root, unified)('a host in a cgroup that was killed once can start sessions', async () => {
  const killed = path.join(cgroupOf('self'), newToken());
  fs.mkdirSync(killed);
  try {
    const enter = 'echo 1 > "$0/cgroup.kill"; echo $$ > "$0/cgroup.procs"; exec "$@"';
    const results = await resultOf(
      async (pty) => {
        const outputs: unknown[] = [];
        for (const waits of [true, false]) {
          const args = ['-c', 'cat /proc/self/cgroup; exit 7'];
          const child = (waits ? pty.createSandboxedPty({ file: '/bin/sh', args }) : pty.spawn('/bin/sh', args, {})) as any;
          let output = '';
          child.onData((data: string) => (output += data));
          const exit = await new Promise<any>((resolve) => child.onExit(resolve));
          outputs.push({ code: exit.exitCode, inside: /0::.*\/sandboxed-pty-/.test(output), mechanisms: child.tracking.mechanisms });
        }
        return outputs;
      },
      { through: ['/bin/sh', '-c', enter, killed] },
    );
    const fine = { code: 7, inside: true, mechanisms: ['cgroup', 'subreaper'] };
    expect(results).toEqual([fine, fine]);
  } finally {
    await until('nobody is in it', () => /populated 0/.test(fs.readFileSync(path.join(killed, 'cgroup.events'), 'utf8')));
    fs.rmdirSync(killed);
  }
});

sandboxed('a session that is to outlive its shell, and is disposed of before, leaves no descriptor', async () => {
  const left = await resultOf(async (pty, kernel) => {
    const one = async (): Promise<void> => {
      const options = { file: '/bin/sh', args: ['-c', 'echo ready; read line'], keepAliveAfterExit: true };
      const child = pty.createSandboxedPty(options) as any;
      await new Promise((resolve) => child.onData(resolve));
      await child.dispose();
      await kernel.until('its keeper is gone', () => kernel.children().length === 0);
    };
    await one();
    const before = kernel.openFds().length;
    for (let i = 0; i < 5; i++) await one();
    await kernel.until('no descriptor is left', () => kernel.openFds().length <= before);
    return 'nothing';
  });
  expect(left).toBe('nothing');
});

sandboxed('destroy() ends what a shell was allowed to leave behind', async () => {
  const token = newToken();
  const text = '"$0" setsid "$1" & while read x; do :; done';
  const options = { file: '/bin/sh', args: ['-c', text, lingerer(), token], keepAliveAfterExit: true };
  const session = track(load().createSandboxedPty(options)) as DisposableSession;
  try {
    await session.printed('ready');
    session.pty.kill('SIGKILL');
    await session.exit();
    expect(bearers(token).length).toBeGreaterThan(0);
    (session.pty as unknown as { destroy(): void }).destroy();
    await until('nobody is left', () => bearers(token).length === 0);
  } finally {
    endBearers(token);
  }
});

describe('a keeper that somebody else kills', () => {
  for (const kind of kinds) {
    sandboxed(`is warned of, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, lingerer(), ['setsid', token]);
      const warnings: { code: string; message: string }[] = [];
      (session.pty as any).onWarning((warning: { code: string; message: string }) => warnings.push(warning));
      try {
        await session.printed('ready');
        const cgroup = mechanismsOf(session).includes('cgroup');
        process.kill(stat(session.pty.pid).ppid, 'SIGKILL');
        await session.exit();
        const lost = warnings.filter(({ code }) => code === 'KEEPER_LOST');
        expect(lost).toHaveLength(1);
        expect(lost[0]?.message).toMatch(cgroup ? /is being ended/ : /may still run/);
      } finally {
        endBearers(token);
      }
    });
  }
});

sandboxed('what a shell was allowed to leave behind does not wait for somebody to read what it prints', async () => {
  const mark = path.join(temporaryDirectory(), 'mark');
  // More than the kernel and we together would hold.
  const text = 'trap "" HUP; (seq 1 200000; touch "$0"; while :; do sleep 1000; done) & exit 0';
  const session = track(load().createSandboxedPty({ file: '/bin/sh', args: ['-c', text, mark], keepAliveAfterExit: true })) as DisposableSession;
  await session.exit();
  const told = session.output.length;
  await until('it has printed everything', () => fs.existsSync(mark));
  expect(session.output).toHaveLength(told);
  expect(await session.pty.dispose()).toMatchObject({ converged: true });
});
