// Adversaries that are not alone: with their keeper, with another user's rights, with a session or a file system of their own.
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { linux, modulePath, ours, repositoryRoot, root, startHost, stat, temporaryDirectory, unprivileged, until, type Body } from '../support';
import {
  bearers,
  endAllBearers,
  expectGone,
  expectToOutliveNodePty,
  kinds,
  leavesOf,
  lingerer,
  mechanismsOf,
  newToken,
  startKind,
} from './support';

const sandboxed = ours.needing(linux);
const tracked = kinds.filter((kind) => !kind.confined);

describe('one that turns against its keeper', () => {
  sandboxed('outlives node-pty, which it kills', async () => {
    const token = newToken();
    const attacked: Body = (pty, _kernel, { program, name }) => {
      const terminal = pty.spawn(program, ['keeper', name], {});
      terminal.onData(() => {});
      terminal.write('\r');
    };
    const host = startHost(attacked, { module: require.resolve('node-pty'), arg: { program: lingerer(), name: token } });
    try {
      // Dead; but who traces it is the first to hear of that.
      await until('the host is killed', () => stat(host.pid).state === 'Z');
      expect(bearers(token).length).toBeGreaterThan(0);
    } finally {
      await endAllBearers(token);
    }
    expect((await host.end()).signal).toBe('SIGKILL');
  });

  for (const kind of kinds.filter(({ confined }) => confined)) {
    sandboxed(`is refused, and ended, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, lingerer(), ['keeper', token]);
      session.pty.write('\r');
      await session.printed('ready');
      expect(session.output.match(/(trace|stop|kill): \w+/g)).toEqual(['trace: EPERM', 'stop: EPERM', 'kill: EPERM']);
      await expectGone(session, token);
    });
  }

  // It runs as the same user, outside of every sandbox.
  for (const kind of tracked) {
    sandboxed(`kills it, which is told, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, lingerer(), ['keeper', token]);
      const cgroup = mechanismsOf(session).includes('cgroup');
      session.pty.write('\r');
      await session.exit();
      const report = await session.pty.dispose();
      const left = bearers(token);
      await endAllBearers(token);
      expect(report.problem).toContain('keeper');
      expect(report.converged).toBe(cgroup);
      if (cgroup) expect(left).toEqual([]);
      await until('no cgroup is left', () => leavesOf(process.pid).length === 0);
    });
  }
});

describe('one that became another user through sudo', () => {
  const sudo = ['/usr/bin/sudo', '/bin/sudo'].find((file) => fs.existsSync(file)) as string;
  const installed = { met: sudo !== undefined, reason: 'needs sudo' };
  const free = {
    met: installed.met && !root.met && spawnSync(sudo, ['-n', 'true'], { stdio: 'ignore' }).status === 0,
    reason: 'needs sudo without a password',
  };
  const lasting = 'trap "" HUP; echo "ready as $(id -un)"; while :; do sleep 1; done';
  const as = (user: string, token: string): string[] =>
    ['-n', '-u', user, '/bin/sh', '-c', `setsid /bin/sh -c '${lasting}' "$0" & wait`, token];

  sandboxed.needing(installed, root)('outlives a kill of node-pty', async () => {
    const token = newToken();
    await expectToOutliveNodePty(token, sudo, as('nobody', token), 'ready as nobody');
  });

  for (const kind of tracked) {
    sandboxed.needing(installed, root)(`is ended, from root to nobody, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, sudo, as('nobody', token));
      await session.printed('ready as nobody');
      await expectGone(session, token);
    });

    // Only the cgroup's own kill asks nobody for rights over root.
    sandboxed.needing(installed, unprivileged, free)(`is ended or told, from a user to root, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, sudo, as('root', token));
      await session.printed('ready as root');
      const atomic = mechanismsOf(session).includes('cgroup');
      try {
        if (atomic) return await expectGone(session, token);
        const report = await session.pty.dispose({ deadlineMs: 1000 });
        expect(report.converged).toBe(false);
        expect(report.survivors.length).toBeGreaterThan(0);
        expect(bearers(token).length).toBeGreaterThan(0);
      } finally {
        for (const bearer of bearers(token)) execFileSync(sudo, ['-n', 'kill', '-KILL', bearer.split(':')[0] as string]);
        await until('all are gone', () => bearers(token).length === 0);
      }
    });
  }
});

describe('a session inside the session', () => {
  const inner = `
    const child = require(process.argv[1]).spawn(process.argv[2], ['double-fork', process.argv[3]], {});
    child.onData((data) => process.stdout.write(data));`;

  sandboxed('outlives a kill of node-pty, if it is one of node-pty', async () => {
    const token = newToken();
    await expectToOutliveNodePty(token, process.execPath, ['-e', inner, require.resolve('node-pty'), lingerer(), token], 'ready');
  });

  for (const kind of kinds) {
    sandboxed(`ends with it, ${kind.name}`, async () => {
      const token = newToken();
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

describe('one that sleeps in a file system of its own, and that no signal wakes', () => {
  const fuse = { met: fs.existsSync('/dev/fuse'), reason: 'needs FUSE' };

  sandboxed.needing(root, fuse)('outlives a kill of node-pty', async () => {
    const token = newToken();
    await expectToOutliveNodePty(token, lingerer(), ['fuse', token, temporaryDirectory()], 'ready');
  });

  for (const kind of tracked) {
    sandboxed.needing(root, fuse)(`is ended, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, lingerer(), ['fuse', token, temporaryDirectory()]);
      await session.printed('ready');
      const sleeper = Number(/sleeper (\d+)/.exec(session.output)?.[1]);
      process.kill(sleeper, 'SIGKILL');
      await until('it sleeps all the more', () => stat(sleeper).state === 'D');
      await expectGone(session, token);
    });
  }
});
