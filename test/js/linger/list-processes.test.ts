// listProcesses() says of every member what the kernel does.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Gate, linux, ours, resultOf, stat, temporaryDirectory, until } from '../support';
import { kinds, startKind, type Disposable } from './support';

const sandboxed = ours.needing(linux);

// A shell, a child of it that works, one with an odd name and odd arguments, and an orphan in a session of its own.
const text = `
  sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo worked; read x < "$0"' "$1" &
  "$2" -c 'read x < "$0"' "$1" 'two  words' '' 'ä' &
  (setsid sh -c 'read x < "$0"' "$1" orphan &)
  echo started; read line`;

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const pageBytes = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));

/** What /proc says; times in seconds. */
function known(pid: number): { ppid: number; argv: string[]; name: string; cpu: number; start: number; rss: number } {
  const whole = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = whole.slice(whole.lastIndexOf(')') + 2).split(' ').map(Number);
  const [user, system, started] = [fields[11], fields[12], fields[19]] as [number, number, number];
  return {
    ppid: stat(pid).ppid,
    argv: fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1),
    name: fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd(),
    cpu: (user + system) / ticksPerSecond,
    start: started / ticksPerSecond,
    rss: Number(fs.readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes,
  };
}

for (const kind of kinds) {
  sandboxed(`names everybody and what they are, ${kind.name}`, async () => {
    const directory = temporaryDirectory();
    const gate = new Gate(directory).path;
    const oddName = path.join(directory, '(a) b');
    fs.symlinkSync('/bin/sh', oddName);
    const settings = { additional_read_only_paths: [directory] };
    const session = startKind(kind, '/bin/sh', ['-c', text, 'sh', gate, oddName], { settings });
    await session.printed('worked');
    await session.printed('started');
    const list = () => session.pty.listProcesses();
    await until('everybody is there, and runs what it is to run', () => {
      const now = list();
      const names = now.map(({ name }) => name).sort().join();
      return names === '(a) b,sh,sh,sh' && now.some(({ argv }) => argv.at(-1) === 'orphan');
    });
    const processes = list();
    const [shell, worker, odd, orphan] = [
      processes.find(({ pid }) => pid === session.pty.pid),
      processes.find(({ argv }) => argv[2]?.includes('worked') && argv.length === 4),
      processes.find(({ argv }) => argv.includes('two  words')),
      processes.find(({ argv }) => argv.at(-1) === 'orphan'),
    ] as typeof processes;
    const keeper = stat(session.pty.pid).ppid;
    expect(shell).toMatchObject({ ppid: keeper, argv: ['/bin/sh', '-c', text, 'sh', gate, oddName] });
    expect(worker).toMatchObject({ ppid: session.pty.pid, name: 'sh' });
    expect(odd).toMatchObject({ ppid: session.pty.pid, name: '(a) b' });
    expect(odd?.argv.slice(4)).toEqual(['two  words', '', 'ä']);
    expect(orphan).toMatchObject({ ppid: keeper, name: 'sh' });
    const booted = Date.now() - Number(fs.readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
    for (const { pid, ppid, argv, name, cpuSeconds, startTime, rssBytes } of processes) {
      const truth = known(pid);
      // Nobody of them does anything any more.
      expect({ ppid, argv, name, cpuSeconds }).toEqual({ ppid: truth.ppid, argv: truth.argv, name: truth.name, cpuSeconds: truth.cpu });
      expect(rssBytes).toBeGreaterThan(0);
      expect(Math.abs(rssBytes - truth.rss)).toBeLessThanOrEqual(truth.rss / 2);
      expect(Math.abs(startTime.getTime() - (booted + truth.start * 1000))).toBeLessThan(2000);
    }
    expect(worker?.cpuSeconds).toBeGreaterThan(orphan?.cpuSeconds as number);
    await session.pty.dispose();
    expect(list()).toEqual([]);
  });
}

sandboxed(
  'what a list keeps open for the next one is closed with the session, and when nobody asks any more',
  async () => {
    const { ends, idle, waits } = await resultOf(async (pty, kernel) => {
      const fs = require('node:fs') as typeof import('node:fs');
      const kept = () =>
        kernel.openFds().filter((fd) => {
          try {
            return /^\/proc\/\d+\//.test(fs.readlinkSync(`/proc/self/fd/${fd}`));
          } catch {
            return false; // the descriptor of the directory that was just read
          }
        }).length;
      const start = () => pty.spawn('/bin/sh', ['-c', 'read line'], {}) as Disposable;
      const [first, second] = [start(), start()];
      // Only once there is room for them, which another thread makes.
      await kernel.until('a list keeps something', () => first.listProcesses().length === 1 && kept() > 0);
      const counts = [kept()];
      for (const terminal of [first, second]) {
        terminal.listProcesses();
        counts.push(kept());
      }
      await first.dispose();
      counts.push(kept());
      const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      await kernel.until('the other one has been forgotten', () => kept() === 0);
      const again = second.listProcesses().length;
      await second.dispose();
      return { ends: counts, idle: [again, kept()], waits: timers };
    });
    expect(ends).toEqual([2, 2, 4, 2]);
    expect(idle).toEqual([1, 0]);
    // Nobody's event loop is held by it.
    expect(waits).toBe(0);
  },
);
