// A session ends with everybody it ever started, told by its mark alone: children that left the process group, and
// daemons that belong to launchd by now.
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { load, ours, temporaryDirectory, track, until, type Session } from '../support';

interface Report {
  converged: boolean;
  survivors: unknown[];
  mechanisms: string[];
}

const leavers = {
  'a simple child': 'perl -e "sleep 1000" & echo "$! ready"',
  'one that called setsid': `perl -MPOSIX -e 'if ($p = fork) { print "$p ready\\n"; exit } setsid; sleep 1000'`,
  'a double-forked daemon': `perl -MPOSIX -e '$| = 1; exit if fork; setsid; if ($p = fork) { print "$p ready\\n"; exit } sleep 1000'`,
};

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Of this process; suites beside it have their own. */
const marks = (): string[] => fs.readdirSync('/tmp').filter((name) => name.startsWith(`.sandboxed-pty-${process.pid}-`));

function startShell(script: string, sandbox?: object): Session & { pty: { dispose(): Promise<Report> } } {
  const options = { file: '/bin/sh', args: ['-c', `${script}; read line`], sandbox, projectDir: temporaryDirectory() };
  return track(load().createSandboxedPty(options)) as never;
}

for (const [kind, sandbox] of Object.entries({ tracked: undefined, confined: { enabled: true, profile: 'terminal' } })) {
  for (const [name, script] of Object.entries(leavers)) {
    ours(`${name} of a ${kind} session dies with it, and the mark goes`, async () => {
      const before = marks();
      const session = startShell(script, sandbox);
      const [, pid] = (await session.printed('ready')).match(/(\d+) ready/) ?? [];
      expect(lives(Number(pid))).toBe(true);
      const [own, ...others] = marks().filter((name) => !before.includes(name));
      expect([own === undefined, others]).toEqual([false, []]);
      const report = await session.pty.dispose();
      expect(report).toMatchObject({ converged: true, survivors: [], mechanisms: ['seatbelt-mark'] });
      await until('it is gone', () => !lives(Number(pid)));
      expect(marks()).not.toContain(own);
    });
  }
}

ours('another session, and who belongs to none, stay alive', async () => {
  const [one, other] = [startShell('echo $$ ready'), startShell('echo $$ ready')];
  await one.printed('ready');
  const [, pid] = (await other.printed('ready')).match(/(\d+) ready/) ?? [];
  expect((await one.pty.dispose()).converged).toBe(true);
  expect(lives(Number(pid))).toBe(true);
  expect(lives(process.pid)).toBe(true);
});

ours('a session that is only tracked is not restricted', async () => {
  const server = net.createServer((socket) => socket.end('hello\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  const outside = path.join(temporaryDirectory(), 'file');
  const session = startShell(
    `ls ${os.homedir()} > /dev/null && echo read; echo x > ${outside} && echo written;` +
      `nc -w 5 127.0.0.1 ${port} && echo connected; kill -0 ${process.pid} && echo signalled; echo all`,
  );
  const output = await session.printed('all');
  for (const word of ['read', 'written', 'connected', 'signalled']) expect(output).toContain(word);
  server.close();
});

/** Refused by the kernel under any profile, whatever it says: these run without one. */
const withoutProfile = {
  'ps, which is setuid': '/bin/ps -p $$ -o pid= > /dev/null',
  'sudo, as far as it gets without a password': '{ sudo -n true; [ $? -ne 126 ]; }',
  'a profile inside': `/usr/bin/sandbox-exec -p '(version 1)(allow default)(deny network*)' /usr/bin/true`,
};

for (const [name, command] of Object.entries(withoutProfile)) {
  ours(`${name}: runs in a session that is only tracked, and not in a confined one`, async () => {
    const script = `if ${command}; then echo it ran; else echo it was refused; fi`;
    expect(await startShell(script).printed('it ')).toContain('it ran');
    expect(await startShell(script, { enabled: true, profile: 'terminal' }).printed('it ')).toContain('it was refused');
  });
}

ours('what such a program starts is followed from parent to child, and the session says so', async () => {
  const session = startShell(`{ /usr/bin/sandbox-exec -p '(version 1)(allow default)' /bin/sh -c 'echo $$ ready; sleep 1000; :' & }`);
  const [, pid] = (await session.printed('ready')).match(/(\d+) ready/) ?? [];
  expect((session.pty as unknown as { tracking: object }).tracking).toMatchObject({ unmarked: expect.stringContaining('sandbox-exec') });
  expect(await session.pty.dispose()).toMatchObject({ converged: true, survivors: [] });
  expect(lives(Number(pid))).toBe(false);
});

// XNU lets a process that ends wait until its terminal's output was read.
ours('a session whose output nobody reads ends all the same', async () => {
  const session = startShell('echo ready; while :; do echo 0123456789012345678901234567890123456789; done');
  await session.printed('ready');
  (session.pty as unknown as { pause(): void }).pause();
  expect(await session.pty.dispose()).toMatchObject({ converged: true, survivors: [] });
});

ours('all of the output of a program that ends at once arrives', async () => {
  const session = track(load().spawn('/bin/sh', ['-c', 'i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done'], {}));
  await session.exit();
  expect(session.output).toContain('line 0\r\n');
  expect(session.output).toContain('line 4999\r\n');
});
