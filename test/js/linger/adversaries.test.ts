// Whatever a process of a session does to outlive it: dispose() ends it, and proves it.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { linux, modulePath, ours, repositoryRoot, until } from '../support';
import {
  bearers,
  cgroupOf,
  endBearers,
  hierarchy,
  kinds,
  lingerer,
  mechanismsOf,
  newToken,
  startKind,
  type DisposableSession,
  type Kind,
} from './support';

const sandboxed = ours.needing(linux);

/** Starts an adversary and waits until it is in place. */
async function unleash(kind: Kind, way: string, token: string, detail = ''): Promise<DisposableSession> {
  const session = startKind(kind, lingerer(), [way, token, detail]);
  await session.printed('ready');
  return session;
}

async function expectGone(session: DisposableSession, token: string): Promise<void> {
  const before = bearers(token);
  expect(before.length).toBeGreaterThan(1);
  const mechanisms = mechanismsOf(session);
  const report = await session.pty.dispose();
  try {
    expect(bearers(token)).toEqual([]);
    expect(report).toMatchObject({ converged: true, survivors: [], mechanisms });
    expect(report.problem).toBeUndefined();
    expect(report.killed).toBeGreaterThan(0);
    expect(session.exits).toHaveLength(1);
    expect(session.pty.listProcesses()).toEqual([]);
  } finally {
    endBearers(token);
  }
}

const ways = ['setsid', 'double-fork', 'clone-parent', 'ignore', 'stopped', 'vfork', 'slave', 'pdeathsig', 'idle'];

describe.each(ways)('%s', (way) => {
  sandboxed('outlives a kill of node-pty', async () => {
    const nodePty = require('node-pty') as typeof import('node-pty');
    const token = newToken();
    const terminal = nodePty.spawn(lingerer(), [way, token], {});
    let output = '';
    terminal.onData((data) => (output += data));
    const exited = new Promise((resolve) => terminal.onExit(resolve));
    try {
      await until('it is in place', () => output.includes('ready'));
      process.kill(terminal.pid, way === 'idle' ? 'SIGKILL' : 'SIGHUP');
      // What holds the slave open holds node-pty's exit back, and the other way round it may come any time.
      await until('the leader is gone', () => !bearers(token).some((bearer) => bearer.startsWith(`${terminal.pid}:`)));
      // The terminal hangs up its foreground; those that wait for that are not here to stay.
      if (way !== 'idle') expect(bearers(token).length).toBeGreaterThan(0);
    } finally {
      // Again and again: some multiply when they are killed.
      await until('all are ended', () => {
        endBearers(token);
        return bearers(token).length === 0;
      });
    }
    await exited;
  });

  for (const kind of kinds) {
    sandboxed(`is ended by dispose, ${kind.name}`, async () => {
      const token = newToken();
      await expectGone(await unleash(kind, way, token), token);
    });
  }
});

describe('those that fork and exit all the time', () => {
  for (const kind of kinds.filter(({ confined, cgroup }) => confined || cgroup)) {
    sandboxed(`are ended, 200 of them, ${kind.name}`, async () => {
      const token = newToken();
      const session = await unleash(kind, 'hoppers', token);
      const atomic = mechanismsOf(session).length > 1;
      const report = await session.pty.dispose(atomic ? {} : { deadlineMs: 500 });
      // Where the machine has no cgroup to give, the next test is the one that counts.
      if (atomic) expect({ ...report, left: bearers(token) }).toMatchObject({ converged: true, survivors: [], left: [] });
      await until('all are gone', () => bearers(token).length === 0);
    });
  }

  // One by one. They give up by themselves after twelve seconds, so that it matters who is first.
  for (const way of ['few-hoppers', 'traced-hoppers']) {
    sandboxed(`are ended, ${way}, tracked, without a cgroup`, async () => {
      const token = newToken();
      const session = await unleash(kinds[3] as Kind, way, token);
      const report = await session.pty.dispose({ deadlineMs: 10_000 });
      expect({ ...report, left: bearers(token) }).toMatchObject({ converged: true, survivors: [], left: [] });
    });
  }
});

const unified = { met: hierarchy !== undefined && cgroupWritable(), reason: 'needs a writable cgroup' };

function cgroupWritable(): boolean {
  try {
    fs.accessSync(path.join(cgroupOf('self'), 'cgroup.procs'), fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

describe('one that takes away every right to its cgroup', () => {
  for (const kind of kinds.filter(({ cgroup }) => cgroup)) {
    sandboxed.needing(unified)(`is ended, ${kind.name}`, async () => {
      const token = newToken();
      const session = await unleash(kind, 'lock', token, hierarchy);
      expect(mechanismsOf(session)).toContain('cgroup');
      await expectGone(session, token);
    });
  }
});

describe('one that moves to another cgroup', () => {
  for (const kind of kinds) {
    sandboxed.needing(unified)(`is ${kind.confined ? 'refused' : 'found'}, and ended, ${kind.name}`, async () => {
      const token = newToken();
      const sibling = path.join(cgroupOf('self'), token);
      fs.mkdirSync(sibling);
      try {
        const session = await unleash(kind, 'move', token, sibling);
        expect(session.output).toContain(kind.confined ? 'moved: EACCES' : 'moved: 0');
        const inside = fs.readFileSync(path.join(sibling, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
        expect(inside.length).toBe(kind.confined ? 0 : 1);
        await expectGone(session, token);
      } finally {
        await until('the other cgroup is empty', () => /populated 0/.test(fs.readFileSync(path.join(sibling, 'cgroup.events'), 'utf8')));
        fs.rmdirSync(sibling);
      }
    });
  }
});

describe('one that turns against its keeper', () => {
  for (const kind of kinds.filter(({ confined }) => confined)) {
    sandboxed(`is refused, and ended, ${kind.name}`, async () => {
      const token = newToken();
      const session = await unleash(kind, 'keeper', token);
      expect(session.output.match(/(trace|stop|kill): \w+/g)).toEqual(['trace: EPERM', 'stop: EPERM', 'kill: EPERM']);
      await expectGone(session, token);
    });
  }
});

describe('one that became another user through sudo', () => {
  const sudo = ['/usr/bin/sudo', '/bin/sudo'].find((file) => fs.existsSync(file));
  const installed = { met: sudo !== undefined, reason: 'needs sudo' };
  const root = { met: process.getuid?.() === 0, reason: 'needs root' };
  for (const kind of kinds.filter(({ confined }) => !confined)) {
    sandboxed.needing(installed).needing(root)(`is ended, ${kind.name}`, async () => {
      const token = newToken();
      const command = ['-n', '-u', 'nobody', '/bin/sh', '-c', 'echo "ready as $(id -un)"; while :; do sleep 1; done', token];
      const session = startKind(kind, sudo as string, command);
      await session.printed('ready as nobody');
      await expectGone(session, token);
    });
  }
});

describe('a session inside the session', () => {
  for (const kind of kinds) {
    sandboxed(`ends with it, ${kind.name}`, async () => {
      const token = newToken();
      const inner = `
        const child = require(process.argv[1]).spawn(process.argv[2], ['double-fork', process.argv[3]], {});
        child.onData((data) => process.stdout.write(data));`;
      const settings = {
        additional_executable_paths: [fs.realpathSync(process.execPath), lingerer(), path.join(repositoryRoot, 'build/Release')],
        additional_read_only_paths: [repositoryRoot],
      };
      const session = startKind(kind, process.execPath, ['-e', inner, modulePath, lingerer(), token], { settings });
      await session.printed('ready');
      await expectGone(session, token);
    });
  }
});
