// `doctor` on this machine, and on machines that offer less.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { linux, ours, repositoryRoot, root, start, temporaryDirectory, type Need } from '../support';
import { cli, environment, preload, run } from './support';

const examined = ours.needing(linux);

interface Finding {
  id: string;
  status: string;
  detail: string;
  fix?: string;
}

/** The environment of a machine that offers no more than this. */
function limited(limits: object): NodeJS.ProcessEnv {
  const module = path.join(repositoryRoot, 'dist/feature-limits.js');
  return preload(`Object.assign(require(${JSON.stringify(module)}).featureLimits, ${JSON.stringify(limits)});`);
}

async function diagnose(env: NodeJS.ProcessEnv = {}): Promise<{ code: number | null; strict: boolean; of: (id: string) => Finding }> {
  const { code, stdout, stderr } = await run(['doctor', '--json'], { env });
  expect(stderr).toBe('');
  const diagnosis = JSON.parse(stdout) as { strict: boolean; findings: Finding[] };
  const of = (id: string): Finding => diagnosis.findings.find((finding) => finding.id === id) ?? ({ id, status: 'absent' } as Finding);
  return { code, strict: diagnosis.strict, of };
}

examined('this machine: what is enforced by what, in a few lines', async () => {
  const { code, stdout, stderr } = await run(['doctor']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^sandboxed-pty \S+ on Linux /);
  for (const line of [/^ok +files: landlock ABI \d+/m, /^ok +UNIX sockets: /m, /^ok +network off, system calls: seccomp/m, /limits: /m, /ending sessions: /m]) {
    expect(stdout).toMatch(line);
  }
  expect(stdout.trim().split('\n').length).toBeLessThanOrEqual(12);
});

examined('for programs', async () => {
  const { code, strict, of } = await diagnose();
  expect({ code, strict }).toEqual({ code: 0, strict: true });
  expect(of('files')).toMatchObject({ status: 'ok' });
  expect(of('tracking').detail).toMatch(/subreaper/);
});

for (const abi of [0, 2]) {
  examined(`Landlock ABI ${abi}: files cannot be protected, and what helps`, async () => {
    const { code, strict, of } = await diagnose(limited({ landlockAbi: abi }));
    expect({ code, strict }).toEqual({ code: 1, strict: false });
    expect(of('files')).toMatchObject({ status: 'missing', detail: expect.any(String), fix: expect.stringContaining('6.2') });
    expect(of('outsiders').status).toBe('weaker');
    expect(of('network').status).toBe('ok');
  });
}

examined('Landlock without scopes is weaker, and strict all the same', async () => {
  const { code, of } = await diagnose(limited({ landlockAbi: 5 }));
  expect(code).toBe(0);
  expect(of('outsiders')).toMatchObject({ status: 'weaker', fix: expect.stringContaining('6.12') });
});

examined('without seccomp, and without its notifications', async () => {
  const none = await diagnose(limited({ seccomp: false }));
  expect(none.strict).toBe(false);
  for (const id of ['unix-sockets', 'network', 'syscalls']) expect(none.of(id)).toMatchObject({ status: 'missing' });
  const silent = await diagnose(limited({ notify: false }));
  expect(silent.of('unix-sockets')).toMatchObject({ status: 'weaker', detail: expect.stringContaining('no UNIX socket') });
  expect(silent.strict).toBe(true);
});

examined('without cgroups', async () => {
  const { code, of } = await diagnose(limited({ cgroup: false }));
  expect(code).toBe(0);
  expect(of('tracking')).toMatchObject({ status: 'weaker', fix: expect.stringContaining('systemd-run') });
});

examined('with nothing at all', async () => {
  const { code, stdout } = await run(['doctor'], { env: limited({ landlockAbi: 0, seccomp: false, cgroup: false }) });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^Strict settings do not start here \(files, UNIX sockets, network off, system calls\)/m);
});

const compiler: Need = { met: fs.existsSync('/usr/bin/cc'), reason: 'needs a C compiler' };

examined.needing(compiler)('on a kernel that really has no Landlock', () => {
  const probe = path.join(temporaryDirectory(), 'without_landlock');
  execFileSync('cc', ['-o', probe, path.join(repositoryRoot, 'test/js/probes/without_landlock.c')]);
  let output = '';
  try {
    execFileSync(probe, [process.execPath, cli, 'doctor'], { env: environment({}), encoding: 'utf8' });
  } catch (error) {
    output = (error as { stdout: string }).stdout;
  }
  expect(output).toMatch(/^MISSING files: .*Landlock \(ENOSYS\)/m);
  expect(output).toMatch(/what helps: Linux 6\.2/);
});

examined.needing(root)('where no cgroup can really be made', () => {
  const script = 'for at in $(sed -n "s/^[^ ]* [^ ]* [^ ]* [^ ]* \\([^ ]*\\) .* - cgroup2 .*/\\1/p" /proc/self/mountinfo); do umount -l "$at"; done; exec "$@"';
  const output = execFileSync('unshare', ['-m', 'sh', '-c', script, 'sh', process.execPath, cli, 'doctor'], { env: environment({}), encoding: 'utf8' });
  expect(output).toMatch(/^weaker +ending sessions: .*no cgroup of its own .*mounted/m);
});

/** What a session on a Mac would report, as far as the sources say. */
const macReport = {
  enforcement: {
    confined: true,
    backend: 'seatbelt',
    landlockAbi: 0,
    landlockErrata: 0,
    protections: ['files', 'unix-sockets', 'network', 'syscalls', 'outsiders'].map((name) => ({ name, wanted: true, enforcedBy: 'seatbelt', reason: 'so' })),
  },
  tracking: { mechanisms: ['seatbelt-mark'], noCgroup: 'macOS has none' },
  cgroup: undefined,
};

ours('a report of a Mac is judged as one: no advice about cgroups and kernels', () => {
  const checks = require(path.join(repositoryRoot, 'dist/cli/doctor-checks.js')) as {
    protectionFindings(report: object): Finding[];
    trackingFinding(report: object): Finding;
    limitsFinding(report: object): Finding;
  };
  const judged = (report: object): Finding[] => [...checks.protectionFindings(report), checks.trackingFinding(report), checks.limitsFinding(report)];
  const findings = judged(macReport);
  expect(findings.map(({ id, status }) => [id, status])).toEqual([
    ['files', 'ok'], ['unix-sockets', 'ok'], ['network', 'ok'], ['syscalls', 'ok'], ['outsiders', 'ok'], ['tracking', 'ok'], ['limits', 'weaker'],
  ]);
  const bare = { ...macReport, enforcement: { ...macReport.enforcement, protections: [] } };
  for (const { fix, detail } of [...findings, ...judged(bare)]) {
    expect(fix).toBeUndefined();
    expect(detail).not.toMatch(/systemd|Linux|controller/);
  }
  // The same report from Linux is told what helps.
  expect(checks.trackingFinding({ ...macReport, tracking: { mechanisms: ['subreaper'], noCgroup: 'none' } }).fix).toContain('systemd-run');
});

examined('nothing is left behind', async () => {
  const TMPDIR = temporaryDirectory();
  expect((await run(['doctor'], { env: { TMPDIR } })).code).toBe(0);
  expect(fs.readdirSync(TMPDIR)).toEqual([]);
});

examined('colours on a terminal, unless NO_COLOR says no', async () => {
  for (const [env, coloured] of [[{}, true], [{ NO_COLOR: '1' }, false], [{ TERM: 'dumb' }, false]] as const) {
    const session = start(process.execPath, [cli, 'doctor'], { cwd: temporaryDirectory(), env: environment({ env }), name: (env as { TERM?: string }).TERM ?? 'xterm' });
    await session.exit();
    expect(session.output.includes('\x1b[')).toBe(coloured);
  }
});
