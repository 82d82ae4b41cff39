// `run`: what becomes of the program, and of what it is not allowed.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Lifeline, linux, ours, python, repositoryRoot, temporaryDirectory } from '../support';
import { run } from './support';

const runs = ours.needing(linux);

runs('exit codes are passed through', async () => {
  for (const code of [0, 1, 2, 42, 124, 255]) {
    expect(await run(['run', '--', 'sh', '-c', `exit ${code}`])).toEqual({ code, signal: null, stdout: '', stderr: '' });
  }
});

runs('signals are passed through: we die of the same', async () => {
  for (const signal of ['TERM', 'KILL', 'SEGV', 'PIPE', 'INT', 'USR1', 'ABRT']) {
    expect(await run(['run', '--', 'sh', '-c', `kill -${signal} $$`])).toMatchObject({ code: null, signal: `SIG${signal}` });
  }
});

runs('options of the program are its own, with or without --', async () => {
  expect((await run(['run', 'echo', '--read', '-n', '--', 'x'])).stdout).toBe('--read -n -- x\n');
  expect((await run(['run', '--quiet', '--', 'echo', '--', '--help'])).stdout).toBe('-- --help\n');
});

runs('a file outside is refused, and granted on request; outside the sandbox it can be written', async () => {
  const outside = temporaryDirectory();
  const write = (name: string, ...flags: string[]) => run(['run', '--quiet', ...flags, '--', 'sh', '-c', `echo text > ${outside}/${name}`]);
  const exists = (name: string) => fs.existsSync(path.join(outside, name));
  // The profile, because it does not share the temporary directory.
  expect(await write('a', '--profile', 'workspace')).toMatchObject({ code: 2, stderr: expect.stringContaining('Permission denied') });
  expect(exists('a')).toBe(false);
  expect(await write('b', '--profile', 'workspace', '--write', outside)).toMatchObject({ code: 0, stderr: '' });
  expect(exists('b')).toBe(true);
  expect(await write('c', '--profile', 'off')).toMatchObject({ code: 0, stderr: '' });
  expect(exists('c')).toBe(true);
});

runs('the project may be written', async () => {
  const cwd = temporaryDirectory();
  expect(await run(['run', '--', 'sh', '-c', 'echo text > file'], { cwd })).toMatchObject({ code: 0 });
  expect(fs.readFileSync(path.join(cwd, 'file'), 'utf8')).toBe('text\n');
});

const socket = 'import socket; socket.socket(socket.AF_INET)';

runs.needing(python)('--no-network takes the network away', async () => {
  expect(await run(['run', '--', 'python3', '-c', socket])).toMatchObject({ code: 0 });
  expect(await run(['run', '--no-network', '--', 'python3', '-c', socket])).toMatchObject({ code: 1 });
});

runs('variables are let in, or set', async () => {
  const show = ['sh', '-c', 'echo "[$SECRET] [$OTHER]"'];
  const env = { SECRET: 'a', OTHER: 'b' };
  expect((await run(['run', '--', ...show], { env })).stdout).toBe('[] []\n');
  expect((await run(['run', '--env', 'SECR*', '--env', 'OTHER=new', '--', ...show], { env })).stdout).toBe('[a] [new]\n');
});

runs('--timeout ends everything, politely first', async () => {
  const lifeline = new Lifeline();
  const script = 'exec 9> "$LIFELINE"; (trap "" TERM HUP; sleep 1000) & trap "echo tidy; exit 0" TERM; while :; do sleep 0.05; done';
  const end = await run(['run', '--timeout', '1s', '--env', `LIFELINE=${lifeline.path}`, '--write', lifeline.path, '--', 'sh', '-c', script]);
  expect(end).toEqual({ code: 124, signal: null, stdout: 'tidy\n', stderr: 'sandboxed-pty: ended after 1s\n' });
  await lifeline.cut();
});

runs('what the program leaves running is gone when we are', async () => {
  const lifeline = new Lifeline();
  const script = 'exec 9> "$LIFELINE"; setsid sh -c "trap \\"\\" TERM HUP; sleep 1000" < /dev/null > /dev/null 2>&1 &';
  const end = await run(['run', '--env', `LIFELINE=${lifeline.path}`, '--write', lifeline.path, '--', 'sh', '-c', script]);
  expect(end).toMatchObject({ code: 0 });
  await lifeline.cut();
});

runs('there is no program, or it is none', async () => {
  expect(await run(['run', '--', 'no-such-program'])).toMatchObject({ code: 127, stderr: expect.stringContaining("no program 'no-such-program'") });
  expect(await run(['run', '--', '/etc/passwd'])).toMatchObject({ code: 126 });
});

runs('a program that the policy does not let execute: the message says which setting would', async () => {
  const home = temporaryDirectory();
  const program = path.join(home, 'tool');
  fs.writeFileSync(program, '#!/bin/sh\necho ran\n', { mode: 0o755 });
  const refused = await run(['run', '--profile', 'workspace', '--', program], { home });
  expect(refused).toMatchObject({ code: 126, stderr: expect.stringContaining('additional_executable_paths') });
  expect((await run(['run', '--profile', 'workspace', '--exec', program, '--', program], { home })).stdout).toBe('ran\n');
});

runs('--report says what was enforced, in one line; otherwise nothing is said', async () => {
  const { stderr } = await run(['run', '--report', '--', 'true']);
  expect(stderr).toMatch(/^sandboxed-pty: enforced: .*files.*\(landlock\).*tracked by .*\n$/);
  expect(stderr.split('\n')).toHaveLength(2);
  expect((await run(['run', '--', 'true'])).stderr).toBe('');
});

runs('a refusal that the program shows on its terminal is followed by that line', async () => {
  const script = 'echo text > /etc/sandboxed-pty-test; exit 1';
  const { stdout, stderr } = await run(['run', '--tty', '--', 'sh', '-c', script]);
  expect(stdout).toContain('Permission denied');
  expect(stderr).toMatch(/^sandboxed-pty: the program seems to have been refused something\. enforced: .*\n$/);
  expect((await run(['run', '--tty', '--quiet', '--', 'sh', '-c', script])).stderr).toBe('');
});

runs('what cannot be enforced does not start, unless it need not', async () => {
  const args = ['--limit', 'processes=10', '--', 'echo', 'ran'];
  const refused = await run(['run', ...args]);
  if (refused.code !== 0) {
    expect(refused).toMatchObject({ code: 125, stdout: '', stderr: expect.stringContaining('limits') });
    expect((await run(['run', '--no-strict', ...args])).stdout).toBe('ran\n');
  }
});

runs('the home directory is no project', async () => {
  const home = temporaryDirectory();
  expect(await run(['run', '--', 'true'], { cwd: home, home })).toMatchObject({ code: 125, stderr: expect.stringContaining('--wide-project') });
  expect(await run(['run', '--wide-project', '--', 'true'], { cwd: home, home })).toMatchObject({ code: 0 });
});

runs('a package that the program could change is warned of', async () => {
  const flags = ['--project', repositoryRoot, '--cwd', repositoryRoot];
  expect(await run(['run', ...flags, '--', 'true'])).toMatchObject({ code: 0, stderr: expect.stringContaining('this package lies in the project') });
  expect(await run(['run', '--quiet', ...flags, '--', 'true'])).toMatchObject({ code: 0, stderr: '' });
});

runs('--project and --cwd say where', async () => {
  const project = temporaryDirectory();
  fs.mkdirSync(path.join(project, 'sub'));
  expect((await run(['run', '--project', project, '--', 'pwd'])).stdout).toBe(`${project}\n`);
  expect((await run(['run', '--project', project, '--cwd', path.join(project, 'sub'), '--', 'pwd'])).stdout).toBe(`${project}/sub\n`);
});
