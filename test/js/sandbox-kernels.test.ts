// Kernels that offer less: what strict refuses, what degrading leaves, and what the report says about it.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import {
  confined,
  host,
  limitedTo,
  linux,
  ours,
  protection,
  python,
  refusal,
  load,
  repositoryRoot,
  runConfined,
  temporaryDirectory,
  type Need,
} from './support';

const sandboxed = ours.needing(linux, python);

function refusedWith(sandbox: object): Error & { code?: string; stage?: string } {
  return refusal(() => load().createSandboxedPty({ file: '/bin/true', projectDir: temporaryDirectory(), sandbox: { enabled: true, ...sandbox } }));
}

const outside = (): string => path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'pty-test-outside-')), 'file');

/** Writes to a file outside the project, and makes a socket of each family. */
const attempt = `
  (echo text > "$OUTSIDE") 2> /dev/null && echo file || echo no file
  python3 -c 'import socket; socket.socket(socket.AF_INET)' 2> /dev/null && echo inet || echo no inet
  python3 -c 'import socket; socket.socket(socket.AF_UNIX)' 2> /dev/null && echo unix || echo no unix
  python3 -c 'import socket; socket.socketpair()' 2> /dev/null && echo pair || echo no pair`;

async function attempts(sandbox: object): Promise<{ output: string[]; report: any }> {
  const file = outside();
  try {
    const { output, report } = await runConfined(attempt, { profile: 'workspace', ...sandbox }, { extraEnv: { OUTSIDE: file } });
    return { output: output.trim().split('\n'), report };
  } finally {
    fs.rmSync(path.dirname(file), { recursive: true });
  }
}

sandboxed('with everything there is: no file outside, no network, UNIX sockets through the gate', async () => {
  const { output, report } = await attempts({});
  expect(output).toEqual(['no file', 'no inet', 'unix', 'pair']);
  expect(protection(report, 'unix-sockets').enforcedBy).toBe('connect-gate');
});

for (const abi of [0, 1, 2]) {
  sandboxed(`Landlock ABI ${abi}: files cannot be protected, so strict refuses`, async () => {
    const error = limitedTo({ landlockAbi: abi }, () => refusedWith({}));
    expect(error).toMatchObject({ name: 'SandboxError', code: 'ENOTSUP', stage: 'confinement' });
    expect(error.message).toMatch(abi === 0 ? /Landlock \(ENOSYS\)/ : /files: .*Linux 6\.2/);
    expect(error.message).toContain('"strict": false');
  });

  sandboxed(`Landlock ABI ${abi}, strict: false: the rest is enforced, and the report says what is missing`, async () => {
    const { output, report } = await limitedTo({ landlockAbi: abi }, () => attempts({ strict: false }));
    expect(output).toEqual([abi === 0 ? 'file' : 'no file', 'no inet', 'unix', 'pair']);
    expect(report).toMatchObject({ confined: true, landlockAbi: abi, backend: abi === 0 ? 'none' : 'landlock' });
    expect(protection(report, 'files')).toMatchObject({ wanted: true, missing: true, reason: expect.any(String) });
    expect(protection(report, 'network')).toMatchObject({ enforcedBy: 'seccomp' });
    expect(report.backendMissing === undefined).toBe(abi !== 0);
  });
}

for (const abi of [3, 4, 5, 6, 7]) {
  sandboxed(`Landlock ABI ${abi} is enough for strict`, async () => {
    const { output, report } = await limitedTo({ landlockAbi: abi }, () => attempts({}));
    expect(output).toEqual(['no file', 'no inet', 'unix', 'pair']);
    // A host with less than what is asked for here has what it has.
    expect(report.landlockAbi).toBeLessThanOrEqual(abi);
    expect(protection(report, 'files').enforcedBy).toBe('landlock');
    expect(protection(report, 'outsiders').missing).toBe(report.landlockAbi < 6 ? true : undefined);
  });
}

sandboxed('without notifications no UNIX socket can be made, and the report says so', async () => {
  // From ABI 9 on the kernel itself can decide about them.
  const { output, report } = await limitedTo({ notify: false, landlockAbi: 8 }, () => attempts({}));
  expect(output).toEqual(['no file', 'no inet', 'no unix', 'pair']);
  expect(protection(report, 'unix-sockets')).toMatchObject({ wanted: true, enforcedBy: 'seccomp', reason: expect.stringMatching(/^no UNIX socket/) });
});

sandboxed('without seccomp strict refuses; degraded, the files are still protected', async () => {
  const error = limitedTo({ seccomp: false }, () => refusedWith({}));
  expect(error).toMatchObject({ code: 'ENOTSUP', stage: 'confinement' });
  expect(error.message).toMatch(/unix-sockets: .*syscalls: /);
  const { output, report } = await limitedTo({ seccomp: false }, () => attempts({ strict: false }));
  expect(output).toEqual(['no file', 'inet', 'unix', 'pair']);
  for (const name of ['unix-sockets', 'network', 'syscalls']) {
    expect(protection(report, name)).toMatchObject({ wanted: true, missing: true });
  }
});

sandboxed('with nothing at all a degraded session runs and is not called confined; fail_if_unavailable refuses', async () => {
  const nothing = { landlockAbi: 0, seccomp: false };
  const { report, output } = await limitedTo(nothing, () => runConfined('echo runs', { strict: false }));
  expect(output).toBe('runs\n');
  expect(report).toMatchObject({ confined: false, backend: 'none', reason: expect.stringMatching(/neither Landlock nor seccomp/) });
  const error = limitedTo(nothing, () => refusedWith({ strict: false, fail_if_unavailable: true }));
  expect(error).toMatchObject({ code: 'ENOTSUP', stage: 'confinement' });
  const enforced = report.protections.filter(({ enforcedBy }) => enforcedBy !== undefined).map(({ name }) => name);
  expect(enforced).toEqual(['privileges', 'descriptors', 'environment']);
});

sandboxed('with nothing at all the privileges are given up all the same, as the report says', async () => {
  const nothing = { landlockAbi: 0, seccomp: false };
  const status = "grep -E '^(CapEff|CapPrm|CapInh|CapAmb|NoNewPrivs):' /proc/self/status | tr -d '\\t'";
  const none = '0'.repeat(16);
  const { output, report } = await limitedTo(nothing, () => runConfined(status, { strict: false }));
  expect(output.trim().split('\n').sort()).toEqual([...['Amb', 'Eff', 'Inh', 'Prm'].map((set) => `Cap${set}:${none}`), 'NoNewPrivs:1']);
  expect(protection(report, 'privileges')).toMatchObject({ wanted: true, enforcedBy: 'no_new_privs' });
  // The control: the same without a sandbox.
  const outside = execFileSync('sh', ['-c', status], { encoding: 'utf8' });
  expect(outside).toContain('NoNewPrivs:0');
  if (process.getuid?.() === 0) expect(outside).not.toContain(`CapEff:${none}`);
});

sandboxed('limits can only take away', async () => {
  const real = (await runConfined('true')).report.landlockAbi;
  const { report } = await limitedTo({ landlockAbi: 99, seccomp: true, notify: true }, () => runConfined('true'));
  expect(report.landlockAbi).toBe(real);
});

sandboxed('limits do not outlive their test', () => {
  expect(protection(confined('true').pty.sandbox, 'files')).toMatchObject({ enforcedBy: 'landlock' });
});

const compiler: Need = {
  met: ['/usr/bin/cc', '/usr/bin/gcc', '/usr/bin/clang'].some((file) => fs.existsSync(file)),
  reason: 'needs a C compiler',
};

/** A host in which the kernel itself has no Landlock. */
async function withoutLandlock(sandbox: object): Promise<any> {
  const directory = temporaryDirectory();
  const probe = path.join(directory, 'without_landlock');
  execFileSync('cc', ['-o', probe, path.join(repositoryRoot, 'test/js/probes/without_landlock.c')]);
  const end = await host(
    async (pty, _kernel, { projectDir, settings }) => {
      try {
        let output = '';
        const child: any = pty.createSandboxedPty({
          file: '/bin/sh',
          args: ['-c', 'echo runs; bash -c "exec 3<>/dev/tcp/127.0.0.1/1" 2> /dev/null || echo no network'],
          projectDir,
          sandbox: { enabled: true, profile: 'workspace', ...settings },
        });
        child.onData((data: string) => (output += data));
        await new Promise((resolve) => child.onExit(resolve));
        return { output, report: child.sandbox };
      } catch (error) {
        const { name, code, stage, message } = error as any;
        return { name, code, stage, message };
      }
    },
    { arg: { projectDir: temporaryDirectory(), settings: sandbox }, through: [probe] },
  );
  expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
  return end.result;
}

sandboxed.needing(compiler)('a host without Landlock: strict refuses, and fail_if_unavailable too', async () => {
  for (const sandbox of [{}, { strict: false, fail_if_unavailable: true }]) {
    const result = await withoutLandlock(sandbox);
    expect(result).toMatchObject({ name: 'SandboxError', code: 'ENOTSUP', stage: 'confinement' });
    expect(result.message).toContain('does not offer Landlock (ENOSYS)');
  }
});

sandboxed.needing(compiler)('a host without Landlock: a degraded session runs, with what seccomp can do', async () => {
  const { output, report } = await withoutLandlock({ strict: false });
  expect(output).toBe('runs\r\nno network\r\n');
  expect(report).toMatchObject({ confined: true, backend: 'none', landlockAbi: 0, backendMissing: expect.stringContaining('Landlock (ENOSYS)') });
  expect(protection(report, 'files')).toMatchObject({ missing: true });
  expect(protection(report, 'syscalls')).toMatchObject({ enforcedBy: 'seccomp' });
});
