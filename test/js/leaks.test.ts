// Sessions come and go in a fresh process; afterwards it holds what it held before.
import { better, contract, host, linux, ours, resultOf, type Body } from './support';

const nothingMore = { fds: 0, threads: 0, children: 0 };

/** Runs `round` many times (after a few to warm up) and gives what has come to stay. */
async function growth(round: Body, rounds: number): Promise<unknown> {
  return resultOf(
    async (pty, kernel, { text, count }) => {
      const once = new Function('require', `return (${text})`)(require) as Body;
      const held = (): Record<string, number> => ({
        fds: kernel.openFds().length,
        threads: kernel.threads(),
        children: kernel.children().length,
      });
      for (let i = 0; i < 5; i++) await once(pty, kernel, i);
      let before = held();
      await kernel.until('the last round is over', () => {
        const now = held();
        const settled = JSON.stringify(now) === JSON.stringify(before);
        before = now;
        return settled;
      });
      for (let i = 0; i < count; i++) await once(pty, kernel, i);
      const more = (): Record<string, number> =>
        Object.fromEntries(Object.entries(held()).map(([name, value]) => [name, Math.max(0, value - (before[name] ?? 0))]));
      // Ended threads and reaped helpers take their time; what stays for good is a leak.
      await kernel.until('everything is gone', () => Object.values(more()).every((value) => value === 0)).catch(() => {});
      return more();
    },
    { arg: { text: round.toString(), count: rounds } },
  );
}

contract.needing(linux)('200 sessions leave no descriptor, no thread and no child', async () => {
  const left = await growth(
    (pty) => new Promise((resolve) => pty.spawn('sh', ['-c', 'echo output'], {}).onExit(resolve)),
    200,
  );
  expect(left).toEqual(nothingMore);
});

contract.needing(linux)('killed, destroyed and paused sessions leave nothing', async () => {
  const left = await growth((pty, _kernel, i) => {
    const child = pty.spawn('sh', ['-c', 'echo ready; read line'], {});
    return new Promise((resolve) => {
      child.onExit(resolve);
      if (i % 3 === 0) child.destroy();
      else if (i % 3 === 1) child.onData(() => child.kill('SIGKILL'));
      else {
        child.pause();
        child.destroy();
      }
    });
  }, 60);
  expect(left).toEqual(nothingMore);
});

contract.needing(linux)('failed starts leave nothing', async () => {
  const left = await growth(
    (pty) => new Promise((resolve) => pty.spawn('/nowhere/at-all', [], {}).onExit(resolve)),
    50,
  );
  expect(left).toEqual(nothingMore);
});

ours.needing(linux)('failed starts of createSandboxedPty leave nothing', async () => {
  const left = await growth((pty) => {
    for (const options of [{ file: '/nowhere/at-all' }, { file: 'sh', cwd: '/nowhere' }, { file: 's\0h' }]) {
      try {
        pty.createSandboxedPty(options);
        throw new TypeError('it started');
      } catch (error) {
        if ((error as Error).message === 'it started') throw error;
      }
    }
  }, 50);
  expect(left).toEqual(nothingMore);
});

better.needing(linux)('pairs from open leave nothing', async () => {
  const left = await growth((pty) => {
    const pair = pty.open({});
    pair.slave.destroy();
    pair.master.destroy();
    return new Promise((resolve) => setImmediate(resolve));
  }, 50);
  expect(left).toEqual(nothingMore);
});

better.needing(linux)('50 sessions at once need no thread each', async () => {
  const more = await resultOf(async (pty, kernel) => {
    const children: any[] = [];
    const start = (): Promise<void> => {
      const child = pty.spawn('sh', ['-c', 'echo ready; read line'], {});
      children.push(child);
      return new Promise((resolve) => child.onData(() => resolve()));
    };
    await start();
    const before = kernel.threads();
    for (let i = 0; i < 50; i++) await start();
    const threads = kernel.threads() - before;
    for (const child of children) child.kill('SIGKILL');
    return threads;
  });
  expect(more).toBeLessThan(5);
});

better.needing(linux)('a program that the host starts by other means finds no terminal of ours', async () => {
  const links = await resultOf(async (pty) => {
    const children = Array.from({ length: 5 }, () => pty.spawn('sh', ['-c', 'echo ready; read line'], {}));
    await Promise.all(children.map((child) => new Promise<void>((resolve) => child.onData(() => resolve()))));
    const { execFileSync } = require('node:child_process');
    const found = execFileSync('sh', ['-c', 'ls -l /proc/self/fd'], { encoding: 'utf8' });
    for (const child of children) child.kill('SIGKILL');
    return found.split('\n').filter((line: string) => /ptmx|pts/.test(line));
  });
  expect(links).toEqual([]);
});

better.needing(linux)('every descriptor of a terminal closes on exec from its birth', async () => {
  const inheritable = await resultOf(async (pty, kernel) => {
    const fs = require('node:fs');
    const before = kernel.openFds();
    const children = Array.from({ length: 5 }, () => pty.spawn('sh', ['-c', 'echo ready; read line'], {}));
    const opened = kernel.openFds().filter((fd) => !before.includes(fd));
    const open = opened.filter((fd) => (parseInt(/flags:\s*(\d+)/.exec(fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0', 8) & 0o2000000) === 0);
    const links = open.map((fd) => fs.readlinkSync(`/proc/self/fd/${fd}`));
    for (const child of children) child.kill('SIGKILL');
    return { opened: opened.length > 0, links };
  });
  expect(inheritable).toEqual({ opened: true, links: [] });
});

better.needing(linux)('queued input of a dead terminal reaches nobody who gets its descriptor number', async () => {
  const end = await host(async (pty) => {
    const fs = require('node:fs');
    const dir = fs.mkdtempSync(`${require('node:os').tmpdir()}/pty-test-`);
    let bytes = 0;
    try {
      for (let round = 0; round < 30; round++) {
        const child = pty.spawn('sh', ['-c', 'stty raw -echo; echo ready; read x < /dev/null; sleep 1000'], {});
        await new Promise<void>((resolve) => child.onData(() => resolve()));
        const exited = new Promise((resolve) => child.onExit(resolve));
        for (let i = 0; i < 16; i++) child.write(Buffer.alloc(64 * 1024, 'x'));
        child.kill('SIGKILL');
        await exited;
        // The numbers that have just become free are given to files.
        const files = Array.from({ length: 8 }, (_, i) => fs.openSync(`${dir}/${round}-${i}`, 'w'));
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        for (const fd of files) {
          bytes += fs.fstatSync(fd).size;
          fs.closeSync(fd);
        }
      }
    } finally {
      fs.rmSync(dir, { recursive: true, force: true });
    }
    return bytes;
  });
  expect({ code: end.code, bytes: end.result }).toEqual({ code: 0, bytes: 0 });
});

better('a stalled reader with much queued input costs the host no processor time', async () => {
  const end = await host(async (pty) => {
    const { execFile } = require('node:child_process');
    const child = pty.spawn('sh', ['-c', 'stty raw -echo; echo ready; read x < /dev/null; sleep 1000'], {});
    await new Promise<void>((resolve) => child.onData(() => resolve()));
    for (let i = 0; i < 64; i++) child.write(Buffer.alloc(64 * 1024, 'x'));
    const before = process.cpuUsage();
    // The window is as long as this work takes; both are counted in processor time, so load makes no difference.
    const loop = 'i=0; while [ $i -lt 500000 ]; do i=$((i + 1)); done; times';
    const times: string = await new Promise((resolve) => execFile('sh', ['-c', loop], (_: unknown, stdout: string) => resolve(stdout)));
    const spent = process.cpuUsage(before);
    child.kill('SIGKILL');
    const [, minutes, seconds] = /^(\d+)m([\d.]+)s/.exec(times) as RegExpExecArray;
    return { used: (spent.user + spent.system) / 1e6, work: Number(minutes) * 60 + Number(seconds) };
  });
  const { used, work } = end.result;
  expect(work).toBeGreaterThan(0.05);
  expect(used).toBeLessThan(work / 4);
});

ours('a terminal that has ended, and what its listeners hold, is collected', async () => {
  const collected = await resultOf(
    async (pty, kernel) => {
      let collectedSoFar = 0;
      const registry = new FinalizationRegistry(() => collectedSoFar++);
      const one = (): Promise<void> =>
        new Promise((resolve) => {
          const terminal = pty.spawn('sh', ['-c', 'echo output'], {});
          const held = Buffer.alloc(1024);
          registry.register(terminal, 'terminal');
          registry.register(held, 'what a listener holds');
          terminal.onData(() => held.length);
          terminal.onExit(() => resolve());
        });
      for (let i = 0; i < 20; i++) await one();
      await kernel.until('all but the last are collected', () => {
        (globalThis as unknown as { gc(): void }).gc();
        return collectedSoFar >= 38;
      });
      return collectedSoFar >= 38;
    },
    { nodeArgs: ['--expose-gc'] },
  );
  expect(collected).toBe(true);
});
