// Whatever a process of a session does to outlive it: dispose() ends it, and proves it.
import { linux, ours, until } from '../support';
import {
  bearers,
  endAllBearers,
  expectGone,
  expectToOutliveNodePty,
  kinds,
  lingerer,
  mechanismsOf,
  newLeash,
  newToken,
  startKind,
  type DisposableSession,
  type Kind,
} from './support';

const sandboxed = ours.needing(linux);

/** Starts an adversary and waits until it is in place. */
async function unleash(kind: Kind, way: string, token: string, leash = newLeash()): Promise<DisposableSession> {
  const session = startKind(kind, lingerer(), [way, token, leash]);
  await session.printed('ready');
  return session;
}

const ways = ['setsid', 'double-fork', 'clone-parent', 'ignore', 'stopped', 'vfork', 'slave', 'pdeathsig', 'bomb'];

describe.each(ways)('%s', (way) => {
  sandboxed('outlives a kill of node-pty', async () => {
    const token = newToken();
    const leash = newLeash();
    await expectToOutliveNodePty(token, lingerer(), [way, token, leash], 'ready', leash);
  });

  for (const kind of kinds) {
    sandboxed(`is ended by dispose, ${kind.name}`, async () => {
      const token = newToken();
      await expectGone(await unleash(kind, way, token), token);
    });
  }
});

describe('two hundred that do nothing', () => {
  for (const kind of kinds) {
    sandboxed(`are ended by dispose, ${kind.name}`, async () => {
      const token = newToken();
      const session = await unleash(kind, 'idle', token);
      expect(bearers(token).length).toBe(201);
      await expectGone(session, token);
    });
  }
});

describe('those that fork and exit all the time', () => {
  sandboxed('outlive a kill of node-pty', async () => {
    const token = newToken();
    const leash = newLeash();
    await expectToOutliveNodePty(token, lingerer(), ['some-hoppers', token, leash], 'ready', leash);
  });

  for (const kind of kinds) {
    const weak = !kind.confined && !kind.cgroup;
    sandboxed(`are ended${weak ? ', or told' : ''}, 200 of them, ${kind.name}`, async () => {
      const token = newToken();
      const leash = newLeash();
      const session = await unleash(kind, weak ? 'slow-hoppers' : 'hoppers', token, leash);
      const atomic = mechanismsOf(session).length > 1;
      // One by one it is a race.
      const report = await session.pty.dispose(atomic ? {} : { deadlineMs: 2000 });
      if (atomic) expect(report.converged).toBe(true);
      // Without a proof there may be survivors or not: on a slow machine the last of them dies after the deadline.
      if (report.converged) expect({ survivors: report.survivors, left: bearers(token) }).toEqual({ survivors: [], left: [] });
      await endAllBearers(token, leash);
      await until('the keeper has seen it', () => session.pty.listProcesses().length === 0);
    });
  }

  // One by one. Nothing but their end, or that of the leash, ends them.
  for (const way of ['few-hoppers', 'traced-hoppers']) {
    sandboxed(`are ended, ${way}, tracked, without a cgroup`, async () => {
      const token = newToken();
      const leash = newLeash();
      const session = await unleash(kinds[3] as Kind, way, token, leash);
      const report = await session.pty.dispose({ deadlineMs: 20_000 });
      const left = bearers(token);
      await endAllBearers(token, leash);
      expect({ ...report, left }).toMatchObject({ converged: true, survivors: [], left: [] });
    });
  }
});
