// Limits are kept by the kernel, reported when they are hit, and never silently left out.
import * as fs from 'node:fs';
import { confined, limitedTo, linux, ours, until } from '../support';
import { bearers, endBearers, kinds, lingerer, newToken, startKind, withoutCgroup, type DisposableSession, type Kind } from './support';

const sandboxed = ours.needing(linux);

interface Limited {
  sandbox: { protections: { name: string; wanted: boolean; enforcedBy?: string; missing?: boolean; reason?: string }[] };
  onViolation(listener: (violation: { limit: string; times: number; message: string }) => void): void;
  onWarning(listener: (warning: { code: string; message: string }) => void): void;
}

const limitsOf = (session: unknown) =>
  (session as { pty: Limited }).pty.sandbox.protections.find(({ name }) => name === 'limits');

function available(limits: object): boolean {
  if (!linux.met) return false;
  const session = confined('read line', { strict: false, limits });
  const enforced = limitsOf(session)?.enforcedBy === 'cgroup';
  session.pty.kill('SIGKILL');
  return enforced;
}

const processes = { met: available({ processes: 64 }), reason: 'needs the cgroup controller pids' };
const memory = { met: available({ memory_bytes: 1 << 30 }), reason: 'needs the cgroup controller memory' };

describe('limits', () => {
  sandboxed.needing(processes)('of processes hold against a fork bomb, which is ended', async () => {
    const token = newToken();
    const bomb = 'bomb() { bomb | bomb & }; bomb; echo lit; read line';
    const session = confined(`: ${token}; ${bomb}`, { limits: { processes: 64 } }) as unknown as DisposableSession;
    const violations: { limit: string; times: number }[] = [];
    (session.pty as unknown as Limited).onViolation((violation) => violations.push(violation));
    await until('the limit is hit', () => violations.length > 0);
    expect(violations[0]).toMatchObject({ limit: 'processes', times: expect.any(Number) });
    expect(session.pty.listProcesses().length).toBeLessThanOrEqual(64);
    expect(await session.pty.dispose()).toMatchObject({ converged: true, survivors: [] });
    expect(bearers(token)).toEqual([]);
  });

  sandboxed.needing(processes)('are kept where neither Landlock nor seccomp is to be had, as the report says', async () => {
    const limits = { limits: { processes: 64 }, strict: false };
    const session = limitedTo({ landlockAbi: 0, seccomp: false }, () => confined('cat /proc/self/cgroup; echo told; read line', limits));
    expect(session.pty.sandbox.confined).toBe(false);
    expect(limitsOf(session)).toMatchObject({ wanted: true, enforcedBy: 'cgroup' });
    await session.printed('told');
    const mount = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n').find((line) => line.includes(' - cgroup2 '))?.split(' ')[4];
    const [, place] = session.output.match(/^0::(.*?)\r?$/m) ?? [];
    expect(fs.readFileSync(`${mount}${place}/pids.max`, 'utf8').trim()).toBe('64');
    session.pty.kill('SIGKILL');
    await session.exit();
  });

  sandboxed.needing(memory)('of memory end the session, which is told before its exit', async () => {
    const session = confined('x=$(head -c 300000000 /dev/zero | tr "\\0" x); echo not reached', { limits: { memory_bytes: 50_000_000 } });
    const events: string[] = [];
    (session.pty as unknown as Limited).onViolation(({ limit }) => events.push(limit));
    session.pty.onExit(() => events.push('exit'));
    await session.exit();
    // The kernel may have had to kill more than once, and all of that comes first.
    expect([...new Set(events)]).toEqual(['memory', 'exit']);
    expect(events.at(-1)).toBe('exit');
    expect(session.output).not.toContain('not reached');
  });

  sandboxed('that cannot be kept are an error with strict, and reported without', async () => {
    // No cgroup, no controllers: the same everywhere.
    const settings = { limits: { processes: 64 } };
    expect(() => withoutCgroup(() => confined('exit 0', { ...settings, strict: true }))).toThrow(/limits: .*no cgroup/);
    const session = withoutCgroup(() => confined('exit 0', { ...settings, strict: false }));
    expect(limitsOf(session)).toMatchObject({ wanted: true, reason: expect.stringContaining('no cgroup') });
    expect(limitsOf(session)?.enforcedBy).toBeUndefined();
    await session.exit();
  });

  sandboxed('that nobody asked for are not reported as missing', async () => {
    const session = confined('exit 0', { strict: true });
    expect(limitsOf(session)?.wanted ?? false).toBe(false);
    await session.exit();
  });
});

describe('a warning', () => {
  const warningsOf = (session: DisposableSession): string[] => {
    const codes: string[] = [];
    (session.pty as unknown as Limited).onWarning(({ code }) => codes.push(code));
    return codes;
  };

  for (const kind of kinds) {
    const weak = !kind.confined && !kind.cgroup;
    sandboxed(`${weak ? 'comes' : 'does not come'} for a session that is ${kind.name}`, async () => {
      const session = startKind(kind, '/bin/sh', ['-c', 'exit 0']);
      const warnings = warningsOf(session);
      await session.exit();
      // Where the machine has no cgroup to give, tracking is weak whatever was asked for.
      const { mechanisms } = (session.pty as unknown as { tracking: { mechanisms: string[] } }).tracking;
      expect(warnings).toEqual(mechanisms.join() === 'subreaper' ? ['WEAK_TRACKING'] : []);
      if (weak) expect(warnings).toHaveLength(1);
    });
  }
});

describe('destroy', () => {
  for (const kind of kinds) {
    sandboxed(`ends what does not end by itself, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind as Kind, lingerer(), ['ignore', token, '']);
      await session.printed('ready');
      expect(bearers(token).length).toBeGreaterThan(1);
      session.pty.destroy();
      try {
        expect(await session.pty.dispose()).toMatchObject({ converged: true, survivors: [] });
        expect(bearers(token)).toEqual([]);
      } finally {
        endBearers(token);
      }
    });
  }
});
