// createSandboxedPty with settings: what it reports, takes, refuses and hands to the session.
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import {
  confined,
  environment,
  host,
  linux,
  load,
  modulePath,
  ours,
  protection,
  python,
  refusal,
  resultOf,
  root,
  runConfined,
  temporaryDirectory,
  thrownBy,
  track,
  until,
  writeScript,
} from './support';

const sandboxed = ours.needing(linux);
const api = (): any => load();

const names = ['files', 'read-holes', 'write-holes', 'private-temp', 'private-pty', 'unix-sockets', 'outsiders', 'network', 'syscalls',
  'privileges', 'descriptors', 'environment', 'limits'];

describe('the report', () => {
  sandboxed('names every protection, whether it is wanted, and what enforces it', async () => {
    for (const profile of ['terminal', 'workspace', 'read-only', 'network-allow-all']) {
      const { report } = await runConfined('true', { profile });
      expect(report).toMatchObject({ confined: true, backend: 'landlock' });
      expect(Object.keys(report).sort()).toEqual(['backend', 'confined', 'landlockAbi', 'landlockErrata', 'protections']);
      expect(report.protections.map(({ name }) => name)).toEqual(names);
      for (const entry of report.protections) {
        expect({ ...entry, right: entry.wanted === (entry.enforcedBy !== undefined) }).toMatchObject({ right: true });
        expect(entry).not.toHaveProperty('missing');
      }
    }
  });

  sandboxed('says what the profiles differ in', async () => {
    const terminal = (await runConfined('true')).report;
    const workspace = (await runConfined('true', { profile: 'workspace' })).report;
    const differing = names.filter((name) => protection(terminal, name).wanted !== protection(workspace, name).wanted);
    expect(differing).toEqual(['private-temp', 'private-pty', 'network']);
  });

  sandboxed('says why a session is not confined', async () => {
    const reasons: [object | null | undefined, object, RegExp][] = [
      [undefined, {}, /^no settings were given$/],
      [null, {}, /^no settings were given$/],
      [{ enabled: false }, {}, /^not asked for/],
      [{ profile: 'off' }, {}, /^not asked for/],
      [{ apply_to: 'tool' }, {}, /^not asked for/],
      [{ allow_unsandboxed: true }, { unsandboxed: true }, /^not asked for/],
    ];
    for (const [sandbox, options, reason] of reasons) {
      const settings = sandbox && { enabled: true, ...sandbox };
      const script = 'grep NoNewPrivs /proc/$$/status | cut -f2';
      const { report, output } = await runConfined(script, {}, { ...options, sandbox: settings });
      expect({ sandbox, ...report, output }).toMatchObject({ sandbox, confined: false, backend: 'none', output: '0\n' });
      expect(report.reason).toMatch(reason);
    }
  });

  sandboxed("a session schedules its own processes, not its keeper's", async () => {
    const each = (pid: string): string =>
      [`renice -n 19 -p ${pid}`, `taskset -a -p -c 0 ${pid}`, `ionice -c 2 -n 4 -p ${pid}`, `chrt -o -p 0 ${pid}`]
        .map((command) => `${command} >/dev/null 2>&1 && echo done || echo refused`).join('; ');
    // Without a sandbox each of them works.
    const session = track(load().spawn('/bin/sh', ['-c', each('$PPID')], {}));
    await session.exit();
    expect(session.output.trim().split('\r\n')).toEqual(Array<string>(4).fill('done'));
    const script = `${each('$PPID')}; ${each('$$')}; renice -n 0 -u "$(id -u)" >/dev/null 2>&1 || echo refused`;
    const { output } = await runConfined(script);
    expect(output.trim().split('\n')).toEqual([...Array<string>(4).fill('refused'), ...Array<string>(4).fill('done'), 'refused']);
  });

  sandboxed('is the same whenever it is asked for, also after the end', async () => {
    const session = confined('exit 3');
    const before = session.pty.sandbox;
    await session.exit();
    expect(session.pty.sandbox).toEqual(before);
  });
});

describe('settings', () => {
  const script = 'grep NoNewPrivs /proc/$$/status | cut -f2';

  sandboxed('may be an object, a text, an editor document, or resolved ones', async () => {
    const forms = [
      { enabled: true },
      '{"enabled": true} // with a comment',
      '{"terminal": {"sandbox": {"enabled": true}}}',
      { terminal: { sandbox: { enabled: true } } },
      api().resolveSettings({ user: { enabled: true } }),
    ];
    for (const sandbox of forms) {
      expect(await runConfined(script, {}, { sandbox })).toMatchObject({ output: '1\n', report: { confined: true } });
    }
  });

  sandboxed('that are an empty text, no JSON or unknown are an error, and never "no sandbox"', () => {
    for (const sandbox of ['', ' ', '{', '{"enabld": true}', { enabld: true }, [], 7, true, false]) {
      const error = refusal(() => load().createSandboxedPty({ file: 'sh', projectDir: temporaryDirectory(), sandbox }));
      expect({ sandbox, code: error.code }).toEqual({ sandbox, code: 'ERR_SETTINGS' });
    }
  });

  sandboxed('of a project can only tighten', async () => {
    const options = { projectSettings: '{"allow_network": false, "strict": false, "additional_read_write_paths": ["/etc"]}' };
    const { report } = await runConfined('true', {}, options);
    expect(protection(report, 'network')).toMatchObject({ wanted: true, enforcedBy: 'seccomp' });
    const { output } = await runConfined('echo > /etc/pty-test 2>&1 || echo refused', {}, options);
    expect(output).toMatch(/refused/);
  });

  sandboxed('decide by the kind of session', async () => {
    const sandbox = { enabled: true, apply_to: 'tool' };
    expect((await runConfined(script, sandbox, { kind: 'tool' })).output).toBe('1\n');
    expect((await runConfined(script, sandbox, { kind: 'terminal' })).output).toBe('0\n');
  });

  sandboxed('do not confine less because an option has the wrong type or is no known word', () => {
    const sandbox = { enabled: true, apply_to: 'tool' };
    const mistakes: object[] = [
      { kind: 'agent' }, { kind: 'Tool' }, { kind: null }, { kind: '' }, { projectDir: 5 }, { projectDir: ['/'] }, { home: 0 },
      { repositories: '/' }, { repositories: [1] }, { repositories: {} }, { unsandboxed: 'yes' }, { unsandboxed: 1 }, { projectTrusted: 'no' },
      { extraEnv: 'A=1' }, { extraEnv: { A: 1 } }, { extraEnv: [] }, { env: { A: null } },
    ];
    for (const mistake of mistakes) {
      const options = { file: '/bin/true', projectDir: temporaryDirectory(), env: environment, kind: 'tool', sandbox, ...mistake };
      const error = refusal(() => load().createSandboxedPty(options));
      expect({ mistake, name: error.name, code: error.code }).toEqual({
        mistake, name: 'TypeError', code: expect.stringMatching(/^ERR_INVALID_ARG_(TYPE|VALUE)$/),
      });
      expect(error.message).toContain(Object.keys(mistake)[0]);
    }
    // The same without a sandbox: what is wrong is wrong before it is switched on.
    expect(refusal(() => load().createSandboxedPty({ file: '/bin/true', kind: 'agent' })).name).toBe('TypeError');
  });

  sandboxed('that were resolved already take no further layer', async () => {
    const resolved = api().resolveSettings({ user: { enabled: true } });
    const further = [{ projectSettings: { allow_network: false } }, { permissions: { allow_all_hosts: true } }, { projectTrusted: false }];
    for (const layer of further) {
      const options = { file: '/bin/true', projectDir: temporaryDirectory(), sandbox: resolved, ...layer };
      expect(refusal(() => load().createSandboxedPty(options))).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
    }
    const without = { projectSettings: null, permissions: undefined };
    expect((await runConfined('true', {}, { sandbox: resolved, ...without })).report.confined).toBe(true);
    expect((await runConfined('true', { enabled: true }, further[0])).report.confined).toBe(true);
  });

  sandboxed('never take the project from the working directory', async () => {
    const elsewhere = fs.mkdtempSync(path.join(os.homedir(), '.pty-test-'));
    try {
      const task = { cwd: elsewhere, projectDir: temporaryDirectory() };
      expect((await runConfined('pwd; echo > file || echo refused', { temp: 'private' }, task)).output).toMatch(
        elsewhere.startsWith(os.tmpdir()) ? /./ : /refused/,
      );
    } finally {
      fs.rmSync(elsewhere, { recursive: true });
    }
  });
});

describe('errors', () => {
  sandboxed('a program that is not granted: the message names the setting', () => {
    const program = writeScript(path.join(temporaryDirectory(), 'program'), '#!/bin/sh\n');
    const error = refusal(() =>
      load().createSandboxedPty({ file: program, projectDir: temporaryDirectory(), sandbox: { enabled: true, profile: 'workspace' } }),
    );
    expect(error).toMatchObject({ name: 'SandboxError', code: 'EACCES', stage: 'exec', errno: -13, path: program });
    expect(error.message).toContain('additional_executable_paths');
    expect(error.message).toContain(path.dirname(program));
  });

  sandboxed('a script whose interpreter is not granted: the message names that, and the setting', async () => {
    const [projectDir, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
    const interpreter = path.join(elsewhere, 'interpreter');
    fs.copyFileSync(fs.realpathSync('/bin/sh'), interpreter);
    fs.chmodSync(interpreter, 0o755);
    const script = writeScript(path.join(projectDir, 'script'), `#!${interpreter} -e\nexit 7\n`);
    const start = (sandbox?: object): any =>
      load().createSandboxedPty({ file: script, projectDir, ...(sandbox && { sandbox: { enabled: true, profile: 'workspace', ...sandbox } }) });
    const error = refusal(() => start({}));
    expect(error).toMatchObject({ name: 'SandboxError', code: 'EACCES', stage: 'exec', path: script });
    expect(error.message).toContain(`'${script}' may be executed, but it needs another program that may not.`);
    expect(error.message).toContain(interpreter);
    expect(error.message).toContain('additional_executable_paths');
    for (const granted of [undefined, { additional_executable_paths: [elsewhere] }]) {
      expect(await track(start(granted)).exit()).toMatchObject({ exitCode: 7 });
    }
  });

  sandboxed('what a script names as its interpreter is not opened by us if it is not granted', async () => {
    const [projectDir, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
    const fifo = path.join(elsewhere, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const script = writeScript(path.join(projectDir, 'script'), `#!${fifo}\n`);
    // Whoever opened the other end, if only for a moment, would let it go on, and its text get lost.
    const writer = spawn('/bin/sh', ['-c', 'echo text > "$0"', fifo], { stdio: 'ignore' });
    try {
      await until('the writer waits', () => fs.readFileSync(`/proc/${writer.pid}/wchan`, 'latin1').includes('partner'));
      const error = refusal(() => load().createSandboxedPty({ file: script, projectDir, sandbox: { enabled: true, profile: 'workspace' } }));
      expect(error).toMatchObject({ code: 'EACCES', stage: 'exec' });
      expect(error.message).toContain(fifo);
      expect(execFileSync('cat', [fifo], { encoding: 'utf8', timeout: 10_000 })).toBe('text\n');
    } finally {
      writer.kill('SIGKILL');
    }
  });

  sandboxed('an interpreter with control characters in its name is not repeated', () => {
    const projectDir = temporaryDirectory();
    for (const name of ['/opt/\x1b]0;title\x07', '/opt/a\0b', '/opt/\x9b2J']) {
      const script = writeScript(path.join(projectDir, 'script'), `#!${name}\n`);
      const error = refusal(() => load().createSandboxedPty({ file: script, projectDir, sandbox: { enabled: true, profile: 'workspace' } }));
      expect(error).toMatchObject({ name: 'SandboxError', stage: 'exec' });
      expect(error.message).not.toMatch(/\p{Cc}|title/u);
    }
  });

  sandboxed('a script without the mode to be executed: the policy is not blamed', () => {
    const projectDir = temporaryDirectory();
    const script = writeScript(path.join(projectDir, 'script'), '#!/somewhere/else\n', 0o644);
    const error = refusal(() => load().createSandboxedPty({ file: script, projectDir, sandbox: { enabled: true, profile: 'workspace' } }));
    expect(error).toMatchObject({ code: 'EACCES', stage: 'exec' });
    expect(error.message).toMatch(/cannot be executed. Is it an executable file/);
    expect(error.message).not.toContain('somewhere');
  });

  sandboxed('a program whose loader is not granted: the message names that, and the setting', async () => {
    const projectDir = temporaryDirectory();
    const program = path.join(projectDir, 'program');
    fs.copyFileSync(fs.realpathSync('/bin/true'), program);
    const start = (system_paths?: object): any =>
      load().createSandboxedPty({ file: program, projectDir, sandbox: { enabled: true, profile: 'workspace', ...(system_paths && { system_paths }) } });
    const error = refusal(() => start({ executable: [] }));
    expect(error).toMatchObject({ name: 'SandboxError', code: 'EACCES', stage: 'exec', path: program });
    expect(error.message).toMatch(/needs another program that may not.*\/lib[^']*\/ld-/s);
    expect(error.message).toContain('additional_executable_paths');
    expect(await track(start()).exit()).toMatchObject({ exitCode: 0 });
  });

  sandboxed('what cannot be protected: the message names the path and the ways out', () => {
    const projectDir = temporaryDirectory();
    for (const sandbox of [{ profile: 'agent' }, { git_access: 'read' }, { git_access: 'commit' }]) {
      const error = refusal(() => load().createSandboxedPty({ file: 'sh', projectDir, sandbox: { enabled: true, ...sandbox } }));
      expect(error).toMatchObject({ name: 'SandboxError', code: 'ENOTSUP', stage: 'confinement' });
      expect(error.message).toContain(`${projectDir}/.git`);
      expect(error.message).toMatch(/git_access: "full".*strict/s);
    }
  });

  sandboxed('no place for the private temporary directory', async () => {
    const end = await host(
      (pty, _kernel, projectDir) => {
        try {
          pty.createSandboxedPty({ file: '/bin/true', projectDir, sandbox: { enabled: true, profile: 'workspace' } });
          return undefined;
        } catch (error) {
          const { name, code, stage, path, message } = error as any;
          return { name, code, stage, path, message };
        }
      },
      { arg: temporaryDirectory(), env: { ...process.env, TMPDIR: '/nowhere/at-all' } },
    );
    expect(end.result).toMatchObject({ name: 'SandboxError', code: 'ENOENT', stage: 'temp', path: '/nowhere/at-all' });
    expect(end.result.message).toMatch(/TMPDIR.*"temp"/);
  });

  sandboxed('a program, a directory or a project that does not exist', () => {
    const base = { file: '/bin/true', projectDir: temporaryDirectory(), sandbox: { enabled: true } };
    const create = (changes: object) => refusal(() => load().createSandboxedPty({ ...base, ...changes }));
    expect(create({ file: '/nowhere' })).toMatchObject({ code: 'ENOENT', stage: 'exec', path: '/nowhere' });
    expect(create({ cwd: '/nowhere' })).toMatchObject({ code: 'ENOENT', stage: 'cwd', path: '/nowhere' });
    expect(create({ projectDir: '/nowhere' })).toMatchObject({ code: 'ERR_POLICY' });
    expect(create({ projectDir: os.homedir() })).toMatchObject({ code: 'ERR_POLICY' });
  });

  sandboxed('hosts cannot be told apart yet: strict refuses, and without it nothing is reachable', async () => {
    const sandbox = { network_hosts: ['example.org'], allow_network: null };
    const error = thrownBy(() => confined('true', { ...sandbox, profile: 'workspace' }));
    expect(error.message).toMatch(/network:.*certain hosts/);
    const script = 'exec 2>&1; bash -c "exec 3<>/dev/tcp/127.0.0.1/1"';
    const degraded = await runConfined(script, { ...sandbox, profile: 'workspace', strict: false });
    expect(protection(degraded.report, 'network')).toMatchObject({ wanted: true, missing: true });
    expect(degraded.output).toMatch(/Permission denied/);
  });
});

describe('the environment', () => {
  const variables = async (options: object, sandbox: object = {}): Promise<string[]> => {
    const { output } = await runConfined('env', sandbox, options);
    return output.trim().split('\n').sort();
  };

  sandboxed('is what the settings allow of the given one', async () => {
    const env = { ...environment, TOKEN: 'secret', EDITOR: 'vi', FOO_ONE: '1', FOOTWO: '2' };
    const plain = await variables({ env });
    expect(plain).toContain('EDITOR=vi');
    expect(plain.join()).not.toMatch(/TOKEN|FOO/);
    const chosen = await variables({ env }, { allowed_env_vars: ['PATH', 'FOO_*'] });
    expect(chosen.join()).toMatch(/FOO_ONE=1/);
    expect(chosen.join()).not.toMatch(/TOKEN|FOOTWO|EDITOR|HOME/);
  });

  sandboxed('has what the editor adds, whatever the settings say', async () => {
    const extraEnv = { FROM_EDITOR: 'yes', PATH: '/usr/bin:/bin:/extra' };
    expect(await variables({ extraEnv }, { allowed_env_vars: [] })).toEqual(
      expect.arrayContaining(['FROM_EDITOR=yes', 'PATH=/usr/bin:/bin:/extra']),
    );
  });

  sandboxed('has the terminal, the directory, and a private temporary directory by its three names', async () => {
    const projectDir = fs.realpathSync(temporaryDirectory());
    const found = await variables({ name: 'screen', projectDir }, { profile: 'workspace' });
    expect(found).toEqual(expect.arrayContaining(['TERM=screen', `PWD=${projectDir}`]));
    const temps = found.filter((line) => /^(TMPDIR|TMP|TEMP)=/.test(line)).map((line) => line.replace(/^\w+=/, ''));
    expect(temps).toHaveLength(3);
    expect(new Set(temps).size).toBe(1);
  });

  sandboxed('is the own one of the process if none is given', async () => {
    const output = await resultOf(
      (pty, _kernel, projectDir) =>
        new Promise((resolve) => {
          let text = '';
          const child = pty.createSandboxedPty({ file: '/usr/bin/env', projectDir, sandbox: { enabled: true } });
          child.onData((data) => (text += data));
          child.onExit(() => resolve(text));
        }),
      { arg: temporaryDirectory(), env: { ...process.env, EDITOR: 'from-the-process', SOME_TOKEN: 'secret' } },
    );
    expect(output).toContain('EDITOR=from-the-process');
    expect(output).not.toContain('SOME_TOKEN');
  });

  // [settings, whether process.env itself is given, a copy of it, or nothing]
  const runEnv = (sandbox: object, given: 'nothing' | 'itself' | 'a copy', env: NodeJS.ProcessEnv): Promise<string[]> =>
    resultOf(
      (pty, _kernel, { projectDir, sandbox: settings, given: how }) =>
        new Promise((resolve) => {
          let text = '';
          const env = how === 'nothing' ? {} : { env: how === 'itself' ? process.env : { ...process.env } };
          const child = pty.createSandboxedPty({ file: '/usr/bin/env', projectDir, sandbox: settings, ...env });
          child.onData((data) => (text += data));
          child.onExit(() => resolve(text.split('\r\n')));
        }),
      { arg: { projectDir: temporaryDirectory(), sandbox, given }, env: { ...process.env, ...env } },
    );

  sandboxed("has nothing of the terminal that the host runs in, unless the caller's own environment says so", async () => {
    const env = { TMUX: 'l', TMUX_PANE: 'l', STY: 'l', WINDOW: 'l', WINDOWID: 'l', TERMCAP: 'l', COLUMNS: 'l', LINES: 'l', KEPT: 'l' };
    const left = (lines: string[]): string[] => lines.filter((line) => line.endsWith('=l')).map((line) => line.replace('=l', '')).sort();
    for (const sandbox of [{ enabled: false }, { enabled: true, allowed_env_vars: ['*'] }]) {
      expect(left(await runEnv(sandbox, 'nothing', env))).toEqual(['KEPT']);
      expect(left(await runEnv(sandbox, 'itself', env))).toEqual(['KEPT']);
      expect(left(await runEnv(sandbox, 'a copy', env))).toEqual(Object.keys(env).sort());
    }
  });

  sandboxed('does not fail because of what is no variable in the environment of the host', async () => {
    const env = { '=x': '1', '': 'empty', KEPT: 'l' };
    for (const sandbox of [{ enabled: false }, { enabled: true, allowed_env_vars: ['*'] }]) {
      const lines = await runEnv(sandbox, 'nothing', env);
      expect(lines).toContain('KEPT=l');
      expect(lines.filter((line) => line.startsWith('='))).toEqual([]);
    }
  });
});

describe('another user', () => {
  const someone = { uid: 65534, gid: 65534 };

  sandboxed.needing(root)('owns the session, its project and its temporary directory', async () => {
    const projectDir = temporaryDirectory();
    fs.chownSync(projectDir, someone.uid, someone.gid);
    const script = `
      id -u; id -g; echo text > file && stat -c '%u:%g' file; temp=$(mktemp) && stat -c '%u:%g %a' "$TMPDIR"
      grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs|Groups)' /proc/$$/status | tr -s '\\t ' ' '; echo "$TMPDIR"`;
    const { output } = await runConfined(script, { profile: 'workspace' }, { ...someone, projectDir });
    const lines = output.trim().split('\n');
    const tempDir = lines.pop() as string;
    expect(lines.map((line) => line.trim())).toEqual(['65534', '65534', '65534:65534', '65534:65534 700', 'Groups: 65534', 'CapPrm: 0000000000000000',
      'CapEff: 0000000000000000', 'CapBnd: 0000000000000000', 'NoNewPrivs: 1']);
    await until('the directory is removed', () => !fs.existsSync(tempDir));
  });

  sandboxed.needing(root, python)('reaches sockets of its own session, as itself', async () => {
    const projectDir = temporaryDirectory();
    fs.chownSync(projectDir, someone.uid, someone.gid);
    const program = `
import socket, struct
server = socket.socket(socket.AF_UNIX)
server.bind("socket")
server.listen()
client = socket.socket(socket.AF_UNIX)
client.connect("socket")
peer, _ = server.accept()
print(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1:])
`;
    const { output } = await runConfined('python3 -c "$PROGRAM"', {}, { ...someone, projectDir, extraEnv: { PROGRAM: program } });
    expect(output).toBe('(65534, 65534)\n');
  });

  sandboxed.needing(root)('as root itself the session has no capabilities', async () => {
    const { output } = await runConfined(`grep ^Cap /proc/$$/status | cut -f2 | sort -u; echo > /etc/pty-test || echo refused`);
    expect(output).toMatch(/^0000000000000000\n[^]*refused\n$/);
  });
});

describe('worker threads', () => {
  sandboxed('run confined sessions', async () => {
    const end = await resultOf(
      (_pty, _kernel, { module, projectDir }) => {
        const { Worker } = require('node:worker_threads');
        const source = `
          const { parentPort } = require('node:worker_threads');
          const pty = require(${JSON.stringify(module)});
          let output = '';
          const child = pty.createSandboxedPty({ file: '/bin/sh', args: ['-c', 'echo > /etc/pty-test || echo refused; echo text > file; cat file'],
            projectDir: ${JSON.stringify(projectDir)}, sandbox: { enabled: true, profile: 'workspace' } });
          child.onData((data) => (output += data));
          child.onExit((exit) => parentPort.postMessage({ output, exit, confined: child.sandbox.confined }));`;
        return new Promise((resolve, reject) => new Worker(source, { eval: true }).once('message', resolve).once('error', reject));
      },
      { arg: { module: modulePath, projectDir: temporaryDirectory() } },
    );
    expect(end).toMatchObject({ exit: { exitCode: 0 }, confined: true });
    expect(end.output).toMatch(/refused\r\ntext\r\n$/);
  });
});

// Taken for "no options" they would start a shell without the sandbox that somebody had in mind.
ours('what is no object of options is refused', async () => {
  for (const wrong of ['bash', 5, true, null, [], () => 1]) {
    expect(thrownBy(() => api().createSandboxedPty(wrong))).toMatchObject({ name: 'TypeError', message: expect.stringMatching(/takes one object/) });
    expect(thrownBy(() => api().resolveSettings(wrong))).toMatchObject({ name: 'TypeError', message: expect.stringMatching(/takes one object/) });
  }
  const pty = confined('read line').pty as any;
  await expect(pty.dispose(null)).rejects.toThrow(/dispose\(\) takes an object/);
  expect(await pty.dispose()).toMatchObject({ converged: true });
});
