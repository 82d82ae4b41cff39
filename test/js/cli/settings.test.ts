// Where settings come from, and what options make of them.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { linux, ours, repositoryRoot, temporaryDirectory } from '../support';
import { command, inTerminal, run, type Place } from './support';

const settled = ours.needing(linux);

async function settings(args: string[], place: Place = {}): Promise<any> {
  const end = await run(['settings', '--json', ...args], place);
  expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(end.stdout);
}

function userSettings(text: string | object, name = '.config/sandboxed-pty/settings.json'): string {
  const home = temporaryDirectory();
  fs.mkdirSync(path.join(home, path.dirname(name)), { recursive: true });
  fs.writeFileSync(path.join(home, name), typeof text === 'string' ? text : JSON.stringify(text));
  return home;
}

function project(text: string | object): string {
  const directory = temporaryDirectory();
  fs.writeFileSync(path.join(directory, '.sandboxed-pty.json'), typeof text === 'string' ? text : JSON.stringify(text));
  return directory;
}

settled('without files and options: confined, as a terminal', async () => {
  const { effective, files, policy } = await settings([]);
  expect(effective).toMatchObject({ enabled: true, profile: 'terminal', strict: true });
  expect(files).toEqual({});
  expect(policy).toMatchObject({ confined: true });
});

// There is one parser: a second one that ends a comment elsewhere would run without what the first one has checked.
settled('a file means the same to the command as to the library, however its lines end', async () => {
  const text = '\uFEFF{"profile":"off" // x\r,"linux":{"profile":"read-only"}, /* , */\n}';
  const { effective } = await settings([], { home: userSettings(text) });
  expect(effective).toMatchObject({ profile: 'read-only' });
});

settled('a current directory that is gone is said in one line', async () => {
  const gone = temporaryDirectory();
  const session = inTerminal(`cd ${gone} && rmdir ${gone} && ${command('settings')}; echo code $?`);
  await session.exit();
  expect(session.output.replaceAll('\r', '')).toMatch(/^sandboxed-pty: the current directory is gone .*\ncode 125\n$/);
});

settled('each option is its setting', async () => {
  const cases: [string[], object][] = [
    [['--profile', 'workspace'], { profile: 'workspace', allow_network: false }],
    [['--read', '/a', '--read', '/b'], { additional_read_only_paths: ['/a', '/b'] }],
    [['--write=/a'], { additional_read_write_paths: ['/a'] }],
    [['--exec', '/a'], { additional_executable_paths: expect.arrayContaining(['/a']) }],
    [['--deny-read', '/a'], { denied_read_paths: expect.arrayContaining(['~/.ssh', '/a']) }],
    [['--read-all'], { read_access: 'all' }],
    [['--write-all'], { allow_fs_write_all: true }],
    [['--no-network'], { allow_network: false }],
    [['--profile', 'workspace', '--network'], { allow_network: true }],
    [['--host', 'example.org', '--host', '*.example.com:8080'], { allow_network: false, network_hosts: ['example.org', '*.example.com:8080'] }],
    [['--deny-host', 'example.org'], { denied_domains: ['example.org'] }],
    [['--socket', '/run/x'], { unix_sockets: expect.arrayContaining(['/run/x']) }],
    [['--git', 'read'], { git_access: 'read' }],
    [['--env', 'ONE', '--env', 'TWO*'], { allowed_env_vars: expect.arrayContaining(['PATH', 'ONE', 'TWO*']) }],
    [['--temp', 'private'], { temp: 'private' }],
    [['--nested-pty', 'off'], { nested_pty: 'off' }],
    [['--limit', 'processes=5', '--limit', 'memory_bytes=100000000'], { limits: { processes: 5, memory_bytes: 100000000 } }],
    [['--wide-project'], { allow_wide_project: true }],
    [['--no-strict'], { strict: false }],
    [['--fail-if-unavailable'], { fail_if_unavailable: true }],
    [['--backend', 'noop'], { backend: 'noop' }],
  ];
  for (const [args, expected] of cases) expect((await settings(args)).effective).toMatchObject(expected);
});

settled("the user's file counts, and options come on top of it, lists included", async () => {
  const home = userSettings(`{
    // comments and trailing commas are fine: "quoted // text" too
    "profile": "workspace", "allow_read": ["/a, ]"],
    "linux": {"git_access": "read", "allow_network": true,},
  }`);
  expect((await settings([], { home })).effective).toMatchObject({ profile: 'workspace', git_access: 'read', allow_network: true });
  const { effective, files } = await settings(['--read', '/b', '--git', 'full', '--host', 'example.org'], { home });
  expect(effective).toMatchObject({
    profile: 'workspace',
    git_access: 'full',
    allow_network: false,
    network_hosts: ['example.org'],
    additional_read_only_paths: ['/a, ]', '/b'],
  });
  expect(files).toEqual({ user: path.join(home, '.config/sandboxed-pty/settings.json') });
});

settled('XDG_CONFIG_HOME, --settings and --no-settings say which file', async () => {
  const home = userSettings({ profile: 'workspace' }, 'elsewhere/sandboxed-pty/settings.json');
  const file = path.join(home, 'elsewhere/sandboxed-pty/settings.json');
  const profile = async (args: string[], env = {}): Promise<string> => (await settings(args, { env })).effective.profile;
  expect(await profile([], { XDG_CONFIG_HOME: path.join(home, 'elsewhere') })).toBe('workspace');
  expect(await profile([], { XDG_CONFIG_HOME: 'elsewhere' })).toBe('terminal');
  expect(await profile(['--settings', file])).toBe('workspace');
  expect(await profile(['--no-settings'], { XDG_CONFIG_HOME: path.join(home, 'elsewhere') })).toBe('terminal');
  expect(await run(['settings', '--settings', '/nonexistent'])).toMatchObject({ code: 125, stderr: expect.stringContaining('no settings file') });
});

settled('a project can only take away, unless it is trusted; what it asked for is told', async () => {
  const cwd = project({ allow_network: false, additional_read_write_paths: ['/var'], temp: 'private' });
  const untrusted = await settings([], { cwd });
  expect(untrusted.effective).toMatchObject({ allow_network: false, temp: 'private', additional_read_write_paths: [] });
  expect(untrusted.refused).toEqual([expect.objectContaining({ pointer: expect.stringContaining('additional_read_write_paths') })]);
  expect((await settings(['--trust-project'], { cwd })).effective).toMatchObject({ additional_read_write_paths: ['/var'] });
  const end = await run(['run', '--', 'true'], { cwd });
  expect(end.stderr).toContain('.sandboxed-pty.json asks for more than a project may (1 not granted');
});

settled('a project cannot switch the sandbox off', async () => {
  const cwd = project({ enabled: false, profile: 'off', strict: false });
  const { effective, policy } = await settings([], { cwd });
  expect(effective).toMatchObject({ enabled: true, profile: 'terminal', strict: true });
  expect(policy.confined).toBe(true);
});

settled('a user who switches it off is told so', async () => {
  const home = userSettings({ enabled: false });
  expect(await run(['run', '--', 'echo', 'ran'], { home })).toMatchObject({ code: 0, stdout: 'ran\n', stderr: expect.stringMatching(/NOT confined: .*settings\.json at \/enabled/) });
});

settled('an option that confines counts for more than a file that does not', async () => {
  const home = userSettings({ enabled: false, linux: { enabled: false } });
  expect((await settings(['--no-network'], { home })).policy).toMatchObject({ confined: true });
  expect((await settings([], { home })).policy).toMatchObject({ confined: false });
  expect((await settings(['--profile', 'off'])).policy).toMatchObject({ confined: false });
});

settled('a file that cannot be used is an error, not an absent one', async () => {
  const wrong = userSettings('{"profil": "workspace"}');
  expect(await run(['run', '--', 'true'], { home: wrong })).toMatchObject({ code: 125, stdout: '', stderr: expect.stringMatching(/settings\.json at \/profil: .*profile/) });
  expect(await run(['run', '--', 'true'], { cwd: project('{') })).toMatchObject({ code: 125 });
  const fifo = temporaryDirectory();
  execFileSync('mkfifo', [path.join(fifo, '.sandboxed-pty.json')]);
  expect(await run(['run', '--', 'true'], { cwd: fifo })).toMatchObject({ code: 125, stderr: expect.stringContaining('is not a file') });
});

settled('a wrong value names the option', async () => {
  expect(await run(['run', '--host', '*', '--', 'true'])).toMatchObject({ code: 125, stderr: expect.stringContaining('--host *') });
  expect(await run(['run', '--profile', 'none', '--', 'true'])).toMatchObject({ code: 125, stderr: expect.stringContaining('--profile is one of') });
  expect(await run(['settings', '--network', '--no-network'])).toMatchObject({ code: 2 });
});

settled('explain answers with the setting, and with its exit code', async () => {
  const home = temporaryDirectory();
  const allowed = await run(['explain', '--read', '/opt', 'read', '/opt'], { home });
  expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('Decided by --read /opt') });
  const denied = await run(['explain', 'read', '~/.ssh'], { home });
  expect(denied).toMatchObject({ code: 1, stdout: expect.stringContaining('denied_read_paths') });
  const json = await run(['explain', '--json', '--no-network', 'connect', 'example.org'], { home });
  expect(JSON.parse(json.stdout)).toMatchObject({ access: 'connect', allowed: false, confined: true });
  expect(await run(['explain', 'frobnicate', 'x'])).toMatchObject({ code: 2 });
});

settled('explain and the kernel agree', async () => {
  const cwd = temporaryDirectory();
  for (const file of ['/etc/hostname', '/etc/shadow', path.join(cwd, 'x')]) {
    const { code } = await run(['explain', 'write', file], { cwd });
    const end = await run(['run', '--', 'sh', '-c', `: >> ${file}`], { cwd });
    expect({ file, allowed: end.code === 0 }).toEqual({ file, allowed: code === 0 });
  }
});

settled('settings for people: no colours in a pipe, and no escape sequences from anywhere', async () => {
  const cwd = path.join(temporaryDirectory(), 'a\x1b[31mb');
  fs.mkdirSync(cwd);
  const end = await run(['settings'], { cwd });
  expect(end).toMatchObject({ code: 0, stderr: '' });
  expect(end.stdout).not.toContain('\x1b');
  expect(end.stdout).toContain('a\\x1b[31mb');
});

settled('schema prints the schema', async () => {
  const { stdout } = await run(['schema']);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'schema/settings.schema.json'), 'utf8')));
});

settled('an option wins over what the file says for this platform, too', async () => {
  const cases: [object, string[], object][] = [
    [{ allow_all_hosts: true }, ['--no-network'], { allow_network: false, network_hosts: [] }],
    [{ network_hosts: ['a.example.org'] }, ['--no-network'], { allow_network: false, network_hosts: [] }],
    [{ allow_all_hosts: true }, ['--host', 'b.example.org'], { allow_network: false, network_hosts: ['b.example.org'] }],
    [{ allow_network: false }, ['--network'], { allow_network: true }],
  ];
  for (const [block, args, expected] of cases) {
    expect(await settings(args, { home: userSettings({ linux: block }) })).toMatchObject({ effective: expected });
  }
});

settled('an option that means a sandbox does not run without one', async () => {
  for (const file of [{ profile: 'off' }, { backend: 'noop' }, { apply_to: 'tool' }]) {
    const place = { home: userSettings(file) };
    const [key] = Object.keys(file) as [string];
    const refused = await run(['run', '--no-network', '--', 'echo', 'ran'], place);
    expect(refused).toMatchObject({ code: 125, stdout: '' });
    expect(refused.stderr).toMatch(new RegExp(`^sandboxed-pty: --no-network asks for a sandbox, but .*settings.json at /${key} means none`));
    // A variable can be had without, and so can what was asked for in so many words.
    for (const args of [['--env', 'A=1'], ['--profile', 'off', '--no-network']]) {
      expect(await run(['run', ...args, '--', 'echo', 'ran'], place)).toMatchObject({ code: 0, stdout: 'ran\n' });
    }
  }
});

settled('what is missing of what was asked for is told before the program runs', async () => {
  const directory = temporaryDirectory();
  fs.mkdirSync(path.join(directory, '.git'));
  const end = await run(['run', '--git', 'none', '--no-strict', '--', 'echo', 'ran'], { cwd: directory });
  expect(end).toMatchObject({ code: 0, stdout: 'ran\n' });
  expect(end.stderr).toMatch(/^sandboxed-pty: NOT enforced: write-holes \(/);
});

settled('messages name the file or the option, and all that is wrong', async () => {
  const cases: [string[], Place, RegExp][] = [
    [[], { cwd: project({ x: 1, y: 2 }) }, /json at \/x: .*\n.*json at \/y: /],
    [[], { cwd: project('{') }, /\.sandboxed-pty\.json: The document is not valid JSON/],
    [['--limit', 'processes=0'], {}, /^sandboxed-pty: --limit processes=0: 0 is out of range/],
    [['--read', '~other'], {}, /^sandboxed-pty: --read ~other: /],
  ];
  for (const [args, place, message] of cases) {
    const end = await run(['run', ...args, '--', 'true'], place);
    expect(end.code).toBe(125);
    expect(end.stderr).toMatch(message);
  }
});

settled('a file that is not UTF-8 is an error: its paths would be others', async () => {
  const home = userSettings('');
  fs.writeFileSync(path.join(home, '.config/sandboxed-pty/settings.json'), Buffer.from('{"denied_read_paths":["/x/\xef"]}', 'latin1'));
  const end = await run(['settings'], { home });
  expect(end).toMatchObject({ code: 125, stderr: expect.stringMatching(/settings\.json is not UTF-8/) as string });
});
