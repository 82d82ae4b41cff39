// dispose() at every moment and with every option.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { host, linux, load, modulePath, ours, resultOf, stat, temporaryDirectory, track, until } from '../support';
import { bearers, endBearers, kinds, lingerer, newToken, startKind, startShell, type DisposableSession, type DisposeReport, type Kind } from './support';

const sandboxed = ours.needing(linux);
const plain = kinds[2] as Kind;

const waiting = 'echo ready; read line';

sandboxed('what does it is what was announced', async () => {
  const session = startShell(waiting);
  await session.printed('ready');
  const { tracking } = session.pty as unknown as { tracking: { mechanisms: string[]; noCgroup?: string } };
  expect(tracking.mechanisms).toContain('subreaper');
  // One or the other: a session without a cgroup says why.
  expect(tracking.mechanisms.includes('cgroup')).toBe(tracking.noCgroup === undefined);
  expect((await session.pty.dispose()).mechanisms.sort()).toEqual([...tracking.mechanisms].sort());
});

sandboxed('a second call gets the same promise, whatever it asks for', async () => {
  const session = startShell(waiting);
  const { pty } = session;
  await session.printed('ready');
  const first = pty.dispose();
  expect(pty.dispose({ graceMs: 10_000 })).toBe(first);
  expect((await first).converged).toBe(true);
  expect(pty.dispose()).toBe(first);
});

sandboxed('at the end of an "await using" block', async () => {
  const token = newToken();
  const session = startKind(plain, lingerer(), ['setsid', token]);
  await session.printed('ready');
  const dispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');
  expect(await (session.pty as unknown as Record<symbol, () => Promise<void>>)[dispose]?.()).toBeUndefined();
  expect(bearers(token)).toEqual([]);
});

sandboxed('inside a data listener', async () => {
  const session = startShell(waiting);
  const report: DisposeReport = await new Promise((resolve, reject) => {
    session.pty.onData(() => void session.pty.dispose().then(resolve, reject));
  });
  expect(report.converged).toBe(true);
  expect(session.exits).toEqual([{ exitCode: 0, signal: 9 }]);
});

sandboxed('inside an exit listener', async () => {
  const session = startShell('exit 3');
  const report: DisposeReport = await new Promise((resolve, reject) => {
    session.pty.onExit(() => void session.pty.dispose().then(resolve, reject));
  });
  expect(report.converged).toBe(true);
  expect(session.exits).toEqual([{ exitCode: 3, signal: 0 }]);
});

sandboxed('right after the spawn, every kind', async () => {
  for (const kind of kinds) {
    const token = newToken();
    const session = startKind(kind, lingerer(), ['double-fork', token]);
    expect(await session.pty.dispose()).toMatchObject({ converged: true, survivors: [] });
    expect(bearers(token)).toEqual([]);
    expect(session.exits).toHaveLength(1);
  }
});

sandboxed('long after the exit, and when nothing of it is left', async () => {
  const session = startShell('exit 0');
  await session.exit();
  await until('the keeper is gone', () => session.pty.listProcesses().length === 0);
  expect(await session.pty.dispose()).toMatchObject({ converged: true, survivors: [] });
});

sandboxed('what a shell left behind by keepAliveAfterExit', async () => {
  const token = newToken();
  const text = '"$0" setsid "$1" & while read x; do :; done';
  const options = { file: '/bin/sh', args: ['-c', text, lingerer(), token], keepAliveAfterExit: true };
  const session = track(load().createSandboxedPty(options)) as DisposableSession;
  await session.printed('ready');
  session.pty.kill('SIGKILL');
  await session.exit();
  expect(bearers(token).length).toBeGreaterThan(0);
  expect(await session.pty.dispose()).toMatchObject({ converged: true, survivors: [] });
  expect(bearers(token)).toEqual([]);
});

sandboxed('what was read is delivered, then the exit, then the promise, also if output is paused', async () => {
  const written = path.join(temporaryDirectory(), 'written');
  const session = startShell(`stty -opost; i=0; while [ $i -lt 200 ]; do echo "line $i"; i=$((i + 1)); done; echo end; : > ${written}; read line`);
  await session.printed('line 0');
  session.pty.pause();
  const events: string[] = [];
  session.pty.onData(() => void events.push('data'));
  session.pty.onExit(() => void events.push('exit'));
  await until('everything is written', () => fs.existsSync(written));
  await session.pty.dispose().then(() => events.push('promise'));
  expect(session.output.endsWith('line 199\nend\n')).toBe(true);
  expect(events.slice(-2)).toEqual(['exit', 'promise']);
  expect(events.indexOf('exit')).toBe(events.length - 2);
});

sandboxed('an exit of the host does not wait for the end of the grace', async () => {
  const end = await host((pty) => {
    const child = pty.spawn('sh', ['-c', "trap '' HUP; echo ready; while :; do read x; done"], {}) as any;
    child.onData(() => {
      child.dispose({ graceMs: 1_000_000 });
      process.exit(5);
    });
  });
  expect(end).toMatchObject({ code: 5, stderr: '' });
});

describe('graceMs', () => {
  sandboxed('a shell that ends politely is not killed', async () => {
    const session = startShell("trap 'echo bye; exit 7' TERM; echo ready; while :; do read line; done");
    await session.printed('ready');
    const report = await session.pty.dispose({ signal: 'SIGTERM', graceMs: 20_000 });
    expect(session.exits).toEqual([{ exitCode: 7, signal: 0 }]);
    expect(session.output).toContain('bye');
    expect(report.converged).toBe(true);
    expect(report.elapsedMs).toBeLessThan(20_000);
  });

  sandboxed('one that does not is killed when it is over', async () => {
    const session = startShell("trap '' HUP TERM; echo ready; while :; do read line; done");
    await session.printed('ready');
    const report = await session.pty.dispose({ graceMs: 50 });
    expect(session.exits).toEqual([{ exitCode: 0, signal: 9 }]);
    expect(report.converged).toBe(true);
    expect(report.elapsedMs).toBeGreaterThanOrEqual(50);
  });

  sandboxed('children of a polite shell end with it', async () => {
    const token = newToken();
    const session = startShell(`trap 'exit 0' HUP; ${lingerer()} setsid ${token} & while :; do read line; done`);
    await session.printed('ready');
    expect((await session.pty.dispose({ graceMs: 20_000 })).converged).toBe(true);
    expect(bearers(token)).toEqual([]);
  });
});

sandboxed('deadlineMs 0 does not wait, and the session ends all the same', async () => {
  const token = newToken();
  const session = startKind(plain, lingerer(), ['idle', token]);
  await session.printed('ready');
  const report = await session.pty.dispose({ deadlineMs: 0 });
  // Two hundred do not die in no time; but should they have, it is true.
  if (report.converged) expect(bearers(token)).toEqual([]);
  await until('everybody is gone', () => bearers(token).length === 0);
  await session.exit();
});

sandboxed('options that make no sense are refused, and the next call counts', async () => {
  const session = startShell(waiting);
  await session.printed('ready');
  const nonsense = [{ graceMs: -1 }, { graceMs: NaN }, { deadlineMs: Infinity }, { deadlineMs: 'soon' }, { signal: 'SIGNOT' }, { signal: 0 }, { signal: 65 }, { signal: 1.5 }];
  for (const options of nonsense) {
    await expect((async () => session.pty.dispose(options))()).rejects.toThrow(/graceMs|deadlineMs|signal/);
  }
  expect(session.exits).toEqual([]);
  expect((await session.pty.dispose()).converged).toBe(true);
});

sandboxed('a worker that is terminated meanwhile takes its session with it', async () => {
  const left = await resultOf(
    async (_pty, kernel, { module }) => {
      const { Worker } = require('node:worker_threads');
      const source = `
        const { parentPort } = require('node:worker_threads');
        const child = require(${JSON.stringify(module)}).spawn('sh', ['-c', "trap '' HUP; echo ready; while :; do read x; done"], {});
        child.onData(() => { child.dispose({ graceMs: 100000 }); parentPort.postMessage(child.pid); });`;
      const pids: number[] = [];
      for (let i = 0; i < 5; i++) {
        const worker = new Worker(source, { eval: true });
        pids.push(await new Promise<number>((resolve) => worker.once('message', resolve)));
        await worker.terminate();
      }
      await kernel.until('the shells are gone', () => !pids.some((pid) => kernel.isRunning(pid)));
      await kernel.until('the keepers are gone', () => kernel.children().length === 0);
      return kernel.children().length;
    },
    { arg: { module: modulePath } },
  );
  expect(left).toBe(0);
});

sandboxed('a hundred at once leave threads of the pool to others', async () => {
  const order = await resultOf(async (pty, kernel) => {
    const fsp = require('node:fs').promises;
    const sessions = Array.from({ length: 100 }, () => pty.spawn('sh', ['-c', "trap '' HUP; echo ready; while :; do read x; done"], {}) as any);
    await Promise.all(sessions.map((session) => new Promise<void>((resolve) => session.onData(() => resolve()))));
    let disposed = 0;
    let disposedWhenRead = -1;
    // They are busy for as long as the grace lasts; what is read meanwhile does not wait for them.
    const disposals = sessions.map((session) => session.dispose({ graceMs: 1000 }).then((report: any) => {
      disposed++;
      return report.converged;
    }));
    await Promise.all(Array.from({ length: 100 }, () => fsp.readFile('/proc/self/stat')));
    disposedWhenRead = disposed;
    const converged = (await Promise.all(disposals)).filter(Boolean).length;
    await kernel.until('the keepers are gone', () => kernel.children().length === 0);
    return { before: disposedWhenRead < 100, converged, disposed };
  });
  expect(order).toEqual({ before: true, converged: 100, disposed: 100 });
});

sandboxed('a promise that is rejected and that nobody looks at is told as any other', async () => {
  const reasons = await resultOf(async (pty) => {
    const child = pty.spawn('/bin/sh', ['-c', 'read line'], {}) as any;
    const told: string[] = [];
    process.on('unhandledRejection', (reason: Error) => told.push(reason.message));
    void child.dispose({ signal: 'SIGNONE' });
    await new Promise((resolve) => setImmediate(resolve));
    await child.dispose();
    return told;
  });
  expect(reasons).toEqual(['Unknown signal: SIGNONE']);
});

describe('an end that is not proven', () => {
  const weak = kinds.find(({ name }) => /tracked, without a cgroup/.test(name)) as Kind;
  /** So that it does not do its work before it is killed. */
  function stopKeeper(session: DisposableSession): number {
    const keeper = stat(session.pty.pid).ppid;
    process.kill(keeper, 'SIGSTOP');
    return keeper;
  }
  /** Somebody kills the keeper while the session has its time to end by itself. */
  async function lose(body: (session: DisposableSession) => Promise<void>): Promise<void> {
    const token = newToken();
    const session = startKind(weak, lingerer(), ['ignore', token]);
    try {
      await session.printed('ready');
      await body(session);
    } finally {
      endBearers(token);
    }
  }

  sandboxed('is told by a warning after destroy()', () =>
    lose(async (session) => {
      const warned = new Promise((resolve) => {
        (session.pty as any).onWarning(({ code }: { code: string }) => code === 'NOT_DISPOSED' && resolve(code));
      });
      const keeper = stopKeeper(session);
      (session.pty as any).destroy();
      process.kill(keeper, 'SIGKILL');
      expect(await warned).toBe('NOT_DISPOSED');
    }));

  sandboxed('is thrown out of an "await using" block', () =>
    lose(async (session) => {
      const keeper = stopKeeper(session);
      const disposed = session.pty.dispose({ graceMs: 200, deadlineMs: 100 });
      process.kill(keeper, 'SIGKILL');
      expect(await disposed).toMatchObject({ converged: false });
      const dispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');
      const ending = (session.pty as unknown as Record<symbol, () => Promise<void>>)[dispose]?.();
      await expect(ending).rejects.toMatchObject({ name: 'SandboxError', stage: 'dispose' });
    }));
});
