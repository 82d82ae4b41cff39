// A tracked session runs as the user who runs its keeper: it can stop, trace and kill it.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { linux, ours, repositoryRoot, resultOf, root, until } from '../support';
import { bearers, endBearers, kinds, leavesOf, mechanismsOf, newToken, startKind, type Kind } from './support';

/** 1: only descendants may be traced, 2: by nobody but root, 3: nobody. */
const yama = '/proc/sys/kernel/yama/ptrace_scope';
const scope = fs.existsSync(yama) ? Number(fs.readFileSync(yama, 'utf8')) : 0;
const tracing = { met: scope === 0 || (root.met && scope < 3), reason: 'needs a kernel that lets a process trace its parent' };
const tracked = kinds.filter(({ confined }) => !confined);

let compiled: string | undefined;

function attacker(): string {
  if (compiled !== undefined) return compiled;
  const directory = path.join(repositoryRoot, 'build/linger');
  const program = path.join(directory, 'keeper_attacker');
  fs.mkdirSync(directory, { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  const source = path.join(repositoryRoot, 'test/js/linger/probes/keeper_attacker.c');
  execFileSync('cc', ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-o', unfinished, source]);
  fs.renameSync(unfinished, program);
  return (compiled = program);
}

// The keeper is dead, and its end is kept from the host for as long as the tracer likes. Nobody must wait for it.
for (const useCgroup of [false, true]) {
  const circumstances = useCgroup ? 'with' : 'without';
  ours.needing(linux, tracing)(`a keeper whose end a tracer hides stops nothing else, ${circumstances} a cgroup`, async () => {
    const token = newToken();
    const arg = { loader: path.join(repositoryRoot, 'dist/native-loader'), program: attacker(), token, useCgroup };
    try {
      const result = await resultOf(
        async (pty, _kernel, { loader, program, token, useCgroup }) => {
          const native = require(loader).loadNative();
          const original = native.NativeSession;
          native.NativeSession = function (request: object, handlers: object) {
            return new original({ ...request, useCgroup }, handlers);
          };
          const attacked = pty.spawn(program, ['trace-and-kill', token], {});
          const exited = new Promise((resolve) => attacked.onExit(resolve));
          attacked.write('go\r');
          await exited;
          const other = pty.spawn('sh', ['-c', 'stty -echo; echo ready; read line; echo "<$line>"'], {});
          let output = '';
          other.onData((data: string) => {
            output += data;
            if (output.endsWith('ready\r\n')) other.write('works\r');
          });
          await new Promise((resolve) => other.onExit(resolve));
          return output.includes('<works>');
        },
        { arg },
      );
      expect(result).toBe(true);
      // With a cgroup the tracer is a member of, it is gone too.
      if (!useCgroup) expect(bearers(token).length).toBeGreaterThan(0);
    } finally {
      endBearers(token);
    }
  });
}

// It is stopped before it can say that the program runs; somebody waits for that.
ours.needing(linux)('a program that stops its keeper at once keeps nobody from starting it', async () => {
  const token = newToken();
  const session = startKind(kinds[2] as Kind, '/bin/sh', ['-c', 'kill -STOP $PPID; echo ready; read line', token]);
  await session.printed('ready');
  expect(await session.pty.dispose()).toMatchObject({ converged: true, survivors: [] });
});

describe.each(['stop', 'stop-again-and-again', 'trace'])('%s', (way) => {
  for (const kind of tracked) {
    const declare = way === 'trace' ? ours.needing(linux, tracing) : ours.needing(linux);
    declare(`does not keep the keeper from being disposed of, ${kind.name}`, async () => {
      const token = newToken();
      const session = startKind(kind as Kind, attacker(), [way, token]);
      try {
        session.pty.write('go\r');
        await session.printed('ready');
        expect(bearers(token)).toHaveLength(2);
        const cgroup = mechanismsOf(session).includes('cgroup');
        const report = await session.pty.dispose();
        expect({ ...report, left: bearers(token) }).toMatchObject({ converged: true, survivors: [], left: [] });
        if (cgroup) expect(report.mechanisms).toContain('cgroup');
        await until('no cgroup is left', () => leavesOf(process.pid).length === 0);
      } finally {
        endBearers(token);
      }
    });
  }
});
