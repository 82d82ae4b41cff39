// Adversaries that use what rights they have to cgroups, their own and others.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { linux, ours } from '../support';
import {
  cgroupOf,
  expectGone,
  expectToOutliveNodePty,
  hierarchy,
  kinds,
  leafPathsOf,
  lingerer,
  mechanismsOf,
  newToken,
  startKind,
  withCgroup,
  writableCgroup,
} from './support';

const sandboxed = ours.needing(linux, writableCgroup);

const membersOf = (cgroup: string): string[] => fs.readFileSync(path.join(cgroup, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);

describe('one that takes away every right to its cgroup', () => {
  sandboxed('outlives a kill of node-pty', async () => {
    const token = newToken();
    // In a cgroup of its own, as node-pty makes none and ours is not to be locked.
    await withCgroup(token, async (cgroup) => {
      const enter = 'echo $$ > "$1/cgroup.procs" && exec "$0" lock "$2" "$3"';
      await expectToOutliveNodePty(token, '/bin/sh', ['-c', enter, lingerer(), cgroup, token, hierarchy as string], 'ready');
    });
  });

  for (const kind of kinds.filter(({ cgroup }) => cgroup)) {
    sandboxed(`is ended, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, lingerer(), ['lock', token, hierarchy as string]);
      await session.printed('ready');
      expect(mechanismsOf(session)).toContain('cgroup');
      expect(session.output).toContain('locked: 0');
      const [leaf] = leafPathsOf(process.pid).filter((candidate) => candidate.startsWith(cgroupOf(session.pty.pid)));
      expect(fs.statSync(leaf as string).mode & 0o777).toBe(0);
      // For root no mode is a lock. For others nothing can be opened any more but what was opened before.
      if (process.getuid?.() !== 0) expect(() => fs.openSync(path.join(leaf as string, 'cgroup.kill'), 'w')).toThrow('EACCES');
      await expectGone(session, token);
    });
  }
});

describe('one that moves to another cgroup', () => {
  sandboxed('outlives a kill of node-pty', async () => {
    const token = newToken();
    await withCgroup(token, (sibling) => expectToOutliveNodePty(token, lingerer(), ['move', token, sibling], 'ready'));
  });

  for (const kind of kinds) {
    sandboxed(`is ${kind.confined ? 'refused' : 'found'}, and ended, ${kind.name}`, async () => {
      const token = newToken();
      await withCgroup(token, async (sibling) => {
        const session = startKind(kind, lingerer(), ['move', token, sibling]);
        await session.printed('ready');
        expect(session.output).toContain(kind.confined ? 'moved: EACCES' : 'moved: 0');
        expect(membersOf(sibling).length).toBe(kind.confined ? 0 : 1);
        await expectGone(session, token);
      });
    });
  }
});
