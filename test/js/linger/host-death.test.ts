// A host that dies, in whatever way and moment, takes its sessions with it.
import { children, linux, ours, script, startHost, stat, temporaryDirectory, until, type Body, type Host } from '../support';
import { bearers, endBearers, kinds, leavesOf, lingerer, mechanismsOf, newToken, startKind, tempsOf } from './support';

const sandboxed = ours.needing(linux);

/** Sessions of every kind, half of them with a lingerer; then `end` is called, unless it is the test's to do. */
const inhabited: Body = async (pty, _kernel, { count, program, token, projectDir, end }) => {
  const sandbox = { enabled: true, profile: 'workspace', additional_executable_paths: [program] };
  const ready: Promise<void>[] = [];
  for (let i = 0; i < count; i++) {
    const options = { file: program, args: [['setsid', 'double-fork', 'slave', 'ignore'][i % 4], token], cwd: projectDir };
    const child = pty.createSandboxedPty({ ...options, ...(i % 2 === 0 && { projectDir, sandbox }) });
    ready.push(new Promise((resolve) => child.onData((data: string) => data.includes('ready') && resolve())));
    process.stdout.write(`started ${i}\n`);
  }
  await Promise.all(ready);
  process.stdout.write('all ready\n');
  new Function(end)();
};

function inhabit(token: string, count: number, end = ''): Host {
  return startHost(inhabited, { arg: { count, token, end, program: lingerer(), projectDir: temporaryDirectory() } });
}

async function expectNothingLeft(host: Host, token: string): Promise<void> {
  try {
    await until('nobody is left', () => bearers(token).filter((bearer) => !bearer.startsWith(`${host.pid}:`)).length === 0);
    await until('no cgroup is left', () => leavesOf(host.pid).length === 0);
    await until('no directory is left', () => tempsOf(host.pid).length === 0);
  } finally {
    endBearers(token);
  }
}

const ends: Record<string, string> = {
  'process.exit()': 'process.exit(3)',
  'abort()': 'process.abort()',
  'an uncaught exception': "setImmediate(() => { throw new Error('uncaught'); })",
  SIGKILL: "process.kill(process.pid, 'SIGKILL')",
  SIGTERM: "process.kill(process.pid, 'SIGTERM')",
};

for (const [name, end] of Object.entries(ends)) {
  sandboxed(`${name} leaves nothing behind`, async () => {
    const token = newToken();
    const host = inhabit(token, 4, end);
    const { code, signal, stdout } = await host.end();
    expect(stdout).toContain('all ready');
    expect(code === 0 && signal === null).toBe(false);
    await expectNothingLeft(host, token);
  });
}

// From outside: what a crash, a full memory, a closed window and an impatient user look like.
for (const signal of ['SIGSEGV', 'SIGBUS', 'SIGKILL', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const) {
  sandboxed(`${signal} from somebody else leaves nothing behind`, async () => {
    const token = newToken();
    const host = inhabit(token, 4);
    await host.printed('all ready');
    expect(bearers(token).length).toBeGreaterThan(4);
    host.kill(signal);
    expect((await host.end()).signal).toBe(signal);
    await expectNothingLeft(host, token);
  });
}

/** Sessions that have outlived their shell, because they were asked to. */
const kept: Body = async (pty, _kernel, { program, token, projectDir }) => {
  const sandbox = { enabled: true, profile: 'workspace', additional_executable_paths: [program] };
  const text = '"$0" setsid "$1" & while read x; do :; done';
  for (const confinement of [{}, { projectDir, sandbox }]) {
    const child = pty.createSandboxedPty({
      file: '/bin/sh', args: ['-c', text, program, token], cwd: projectDir, keepAliveAfterExit: true, ...confinement,
    });
    const exited = new Promise((resolve) => child.onExit(resolve));
    await new Promise<void>((resolve) => child.onData((data: string) => data.includes('ready') && resolve()));
    child.kill('SIGKILL');
    await exited;
  }
  process.stdout.write('all exited\n');
  setInterval(() => {}, 1000);
};

sandboxed('what was kept alive after the exit of its shell ends with the host', async () => {
  const token = newToken();
  const host = startHost(kept, { arg: { token, program: lingerer(), projectDir: temporaryDirectory() } });
  await host.printed('all exited');
  expect(bearers(token).filter((bearer) => !bearer.startsWith(`${host.pid}:`)).length).toBeGreaterThan(1);
  host.kill('SIGKILL');
  await host.end();
  await expectNothingLeft(host, token);
});

/** The same sequence every time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

sandboxed('SIGKILL between two sessions, at moments chosen by chance', async () => {
  const next = random(20);
  for (let round = 0; round < 6; round++) {
    const token = newToken();
    const count = 1 + Math.floor(next() * 8);
    const host = inhabit(token, count);
    const moment = Math.floor(next() * (count + 1));
    await host.printed(moment === count ? 'all ready' : `started ${moment}`);
    host.kill('SIGKILL');
    await host.end();
    // The keeper was told of directory and cgroup before they were made, so that not even half a spawn leaves any.
    await expectNothingLeft(host, token);
  }
});

sandboxed('a host that is stopped is not dead', async () => {
  const token = newToken();
  const host = inhabit(token, 2, 'process.stdin.resume(); process.stdin.once("data", () => process.exit(0))');
  await host.printed('all ready');
  const before = bearers(token).filter((bearer) => !bearer.startsWith(`${host.pid}:`)).sort();
  expect(before.length).toBeGreaterThan(1);
  host.kill('SIGSTOP');
  await until('it is stopped', () => stat(host.pid).state === 'T');
  // Somebody else's session comes and goes; time enough for a keeper to make a mistake.
  await script('exit 0').exit();
  expect(bearers(token).filter((bearer) => !bearer.startsWith(`${host.pid}:`)).sort()).toEqual(before);
  host.kill('SIGCONT');
  host.say('go');
  expect((await host.end()).code).toBe(0);
  await expectNothingLeft(host, token);
});

describe('a keeper that somebody else kills', () => {
  /** Kills the session's keeper: the parent of its shell. */
  const killKeeper = (pid: number): void => {
    const keeper = stat(pid).ppid;
    expect(children()).toContain(keeper);
    process.kill(keeper, 'SIGKILL');
  };

  for (const kind of kinds) {
    sandboxed(`is noticed, and told, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, lingerer(), ['double-fork', token]);
      await session.printed('ready');
      const cgroup = mechanismsOf(session).includes('cgroup');
      killKeeper(session.pty.pid);
      // Without a cgroup there is nothing to wait for.
      const report = await session.pty.dispose(cgroup ? {} : { deadlineMs: 300 });
      expect(report.problem).toContain('keeper');
      expect(report.converged).toBe(cgroup);
      if (cgroup) expect(bearers(token)).toEqual([]);
      expect(await session.exit()).toEqual({ exitCode: 0, signal: 1 });
      endBearers(token);
      await until('nobody is left', () => bearers(token).length === 0);
      await until('no cgroup is left', () => leavesOf(process.pid).length === 0);
    });

    sandboxed(`is told also to those who ask after the exit, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind, lingerer(), ['double-fork', token]);
      await session.printed('ready');
      const cgroup = mechanismsOf(session).includes('cgroup');
      killKeeper(session.pty.pid);
      await session.exit();
      const report = await session.pty.dispose();
      expect({ converged: report.converged, left: bearers(token).length > 0 }).toEqual({ converged: cgroup, left: !cgroup });
      expect(report.problem).toContain('keeper');
      endBearers(token);
      await until('nobody is left', () => bearers(token).length === 0);
      await until('no cgroup is left', () => leavesOf(process.pid).length === 0);
    });
  }
});
