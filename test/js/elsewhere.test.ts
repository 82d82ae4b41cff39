// Systems without a native part, such as Windows: what loads, what is refused, and what runs on node-pty instead. The
// system's name is injected; node-pty is the real one.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { host, ours, packageRoot, repositoryRoot, temporaryDirectory } from './support';

interface Answer {
  result?: any;
  error?: { name: string; code: string; stage: string; message: string };
  warnings: string[];
}

/** Evaluates `body` (an async function's) in a process that takes itself to run on Windows. */
async function onWindows(body: string, { root = packageRoot, env = {} as Record<string, string> } = {}): Promise<Answer> {
  const source = `
    const warnings = [];
    process.on('warning', ({ name, message }) => warnings.push(name + ': ' + message));
    require(${JSON.stringify(path.join(root, 'dist', 'platform.js'))}).platform.name = 'win32';
    const pty = require(${JSON.stringify(path.join(root, 'dist', 'index.js'))});
    const outputOf = (terminal) => new Promise((resolve) => {
      let output = '';
      terminal.onData((data) => (output += data));
      terminal.onExit((exit) => resolve({ output, exitCode: exit.exitCode }));
    });
    const run = async () => { ${body} };
    run().then((result) => ({ result }), ({ name, code, stage, message }) => ({ error: { name, code, stage, message } }))
      .then((answer) => setImmediate(() => console.log(JSON.stringify({ ...answer, warnings }))));`;
  const end = await host(source, { env: { PATH: process.env['PATH']!, ...env } });
  expect(end.code).toBe(0);
  return JSON.parse(end.stdout.trim().split('\n').pop()!) as Answer;
}

/** The package alone: nobody has installed node-pty beside it. */
function withoutNodePty(): string {
  const root = path.join(temporaryDirectory(), 'node_modules', 'sandboxed-pty');
  for (const name of ['dist', 'schema', 'package.json']) {
    fs.cpSync(path.join(repositoryRoot, name), path.join(root, name), { recursive: true });
  }
  return root;
}

const confined = 'enabled: true, profile: "workspace"';

for (const [what, settings] of Object.entries({
  'settings without a word on it': `{ ${confined} }`,
  'settings that forbid it': `{ ${confined}, fail_if_unavailable: true }`,
  'strict settings': `{ ${confined}, fail_if_unavailable: false, strict: true }`,
  'no settings': 'undefined',
})) {
  ours(`createSandboxedPty with ${what} is a SandboxError that names WSL`, async () => {
    const { error } = await onWindows(`pty.createSandboxedPty({ file: 'sh', sandbox: ${settings} })`);
    expect(error).toMatchObject({ name: 'SandboxError', code: 'ENOTSUP', stage: 'platform' });
    expect(error!.message).toContain('WSL');
  });
}

ours('a project cannot allow it, and can forbid it', async () => {
  const allow = `projectSettings: { fail_if_unavailable: false }, sandbox: { ${confined} }`;
  const forbid = `projectSettings: { fail_if_unavailable: true }, sandbox: { ${confined}, fail_if_unavailable: false }`;
  for (const options of [allow, forbid]) {
    const { error } = await onWindows(`pty.createSandboxedPty({ file: 'sh', ${options} })`);
    expect(error?.stage).toBe('platform');
  }
});

ours('settings that cannot be read are refused', async () => {
  for (const settings of ['"{ // comment"', '""', '[]', '{ fail_if_unavailable: 0 }', '{ fail_if_unavailable: false, allowed_env_vars: "PATH" }']) {
    const { error } = await onWindows(`pty.createSandboxedPty({ file: 'sh', sandbox: ${settings} })`);
    expect([settings, error?.name, error?.stage]).toEqual([settings, 'SandboxError', 'settings']);
  }
});

ours('with fail_if_unavailable false it runs on node-pty, filters the environment, and says so', async () => {
  const { result, warnings } = await onWindows(
    `const terminal = pty.createSandboxedPty({
       file: 'sh', args: ['-c', 'echo "[$SECRET][$HOME][$ADDED]"; exit 6'], extraEnv: { ADDED: 'yes' },
       sandbox: { ${confined}, fail_if_unavailable: false },
     });
     const { sandbox, tracking } = terminal;
     const told = [];
     terminal.onWarning(({ code }) => told.push(code));
     terminal.onViolation(() => told.push('violation'));
     return { ...(await outputOf(terminal)), sandbox, tracking, told, report: await terminal.dispose() };`,
    { env: { SECRET: 'token', HOME: '/home/me' } },
  );
  expect(result).toMatchObject({ output: '[][/home/me][yes]\r\n', exitCode: 6 });
  expect(result.sandbox).toMatchObject({ confined: false, backend: 'none' });
  expect(result.sandbox.reason).toContain('node-pty');
  expect(result.told).toEqual(['WEAK_TRACKING']);
  const missing = result.sandbox.protections.filter((each: { missing?: boolean }) => each.missing);
  expect(missing.map(({ name }: { name: string }) => name)).toContain('files');
  expect(result.sandbox.protections).toContainEqual({ name: 'limits', wanted: false });
  expect(result.sandbox.protections).toContainEqual({ name: 'environment', wanted: true, enforcedBy: 'filter' });
  expect(result.report).toMatchObject({ converged: false, problem: expect.stringContaining('not tracked') });
  expect(warnings).toEqual([expect.stringMatching(/^SandboxWarning: Sessions run unconfined/)]);
});

ours('limits are missing if they were asked for, by the user or the project', async () => {
  for (const given of ["sandbox: { fail_if_unavailable: false, limits: { processes: 64 } }", "sandbox: { fail_if_unavailable: false }, projectSettings: { limits: { processes: 64 } }"]) {
    const { result } = await onWindows(
      `const terminal = pty.createSandboxedPty({ file: 'sh', args: ['-c', 'exit 0'], ${given} });
       const { sandbox } = terminal;
       await outputOf(terminal);
       return sandbox;`,
    );
    expect(result.protections).toContainEqual(expect.objectContaining({ name: 'limits', wanted: true, missing: true }));
  }
});

ours('the block for Windows decides, and both lists of variables must have a name', async () => {
  const { result } = await onWindows(
    `return outputOf(pty.createSandboxedPty({
       file: 'sh', args: ['-c', 'echo "[$ONE][$TWO_A][$THREE]"'],
       sandbox: { enabled: true, allowed_env_vars: ['PATH', 'ONE', 'two_*'], windows: { fail_if_unavailable: false } },
       projectSettings: { allowed_env_vars: ['PATH', 'TWO_A', 'THREE'] },
     }));`,
    { env: { ONE: '1', TWO_A: '2', THREE: '3' } },
  );
  expect(result.output).toBe('[][2][]\r\n');
});

ours('dispose ends the shell', async () => {
  const { result } = await onWindows(
    `const terminal = pty.createSandboxedPty({ file: 'sh', args: ['-c', 'echo up; exec sleep 1000'],
       sandbox: { enabled: true, fail_if_unavailable: false } });
     await new Promise((resolve) => terminal.onData(resolve));
     const report = await terminal.dispose();
     let gone = false;
     try { process.kill(terminal.pid, 0); } catch { gone = true; }
     return { report, gone, same: terminal.dispose() === terminal.dispose() };`,
  );
  expect(result).toMatchObject({ report: { killed: 1, converged: false }, gone: true, same: true });
});

ours('spawn is node-pty itself', async () => {
  const { result } = await onWindows(`
    const terminal = pty.spawn('sh', ['-c', 'echo "[$SECRET]"; exit 2'], { env: { ...process.env, SECRET: 'kept' } });
    return { ...(await outputOf(terminal)), confined: terminal.sandbox.confined };`);
  expect(result).toEqual({ output: '[kept]\r\n', exitCode: 2, confined: false });
});

ours('without node-pty the package loads, and says what to install', async () => {
  const root = withoutNodePty();
  const starts = [`pty.spawn('sh', [], {})`, `pty.createSandboxedPty({ sandbox: { enabled: true, fail_if_unavailable: false } })`];
  for (const start of starts) {
    const { error } = await onWindows(start, { root });
    expect(error).toMatchObject({ name: 'SandboxError', stage: 'platform', message: expect.stringContaining('install the package node-pty') });
  }
  expect((await onWindows('return typeof pty.createSandboxedPty', { root })).result).toBe('function');
});

ours('under the alias node-pty it does not take itself for node-pty', async () => {
  const root = withoutNodePty();
  fs.symlinkSync(root, path.join(path.dirname(root), 'node-pty'));
  const { error } = await onWindows(`pty.spawn('sh', [], {})`, { root });
  expect(error?.message).toContain('WSL');
});

ours('everything else that needs the native part names WSL too', async () => {
  const { error } = await onWindows('pty.resolveSettings({ user: { enabled: true } })');
  expect(error).toMatchObject({ name: 'SandboxError', stage: 'platform', message: expect.stringContaining('WSL') });
});
