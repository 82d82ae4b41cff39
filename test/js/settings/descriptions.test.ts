// What the library really says about policies, sessions and mistakes, compiled against the typings that describe it.
import { execFileSync } from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

import { complaintsOf } from './type-check';

const root = path.join(__dirname, '..', '..', '..');
const { createSandboxedPty, explain, resolvePolicy, resolveSettings, SettingsError } = require(root) as typeof import('../../../dist/index');

let place: string;
let home: string;
let projectDir: string;

function git(cwd: string, ...args: string[]): void {
  const quiet = ['-c', 'user.name=n', '-c', 'user.email=e', '-c', 'protocol.file.allow=always', '-c', 'init.defaultBranch=main'];
  execFileSync('git', [...quiet, ...args], { cwd, stdio: 'pipe', env: { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' } });
}

beforeAll(() => {
  place = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'spty-descriptions-')));
  home = path.join(place, 'home');
  projectDir = path.join(home, 'project');
  fs.mkdirSync(path.join(projectDir, 'sub'), { recursive: true });
  fs.mkdirSync(path.join(home, '.ssh'));
  fs.writeFileSync(path.join(home, '.bashrc'), '');
  git(projectDir, 'init');
  git(projectDir, 'commit', '--allow-empty', '-m', 'first');
  git(projectDir, 'worktree', 'add', path.join(home, 'linked'));
  fs.mkdirSync(path.join(home, 'outer'));
  git(path.join(home, 'outer'), 'init');
  git(path.join(home, 'outer'), 'submodule', 'add', projectDir, 'inner');
});

afterAll(() => fs.rmSync(place, { recursive: true, force: true }));

const imports = `import type {
  Access, Enforcement, Explanation, GitRepository, Grant, Hole, Origin, PolicyDescription, Problem, Protection, Rights, SkippedPath,
} from './index';`.replaceAll('\n', ' ');
const settingsImport = "import type { GitAccess, Layer, Platform, Profile, SandboxSettings, SessionKind, Refusal } from './settings-types';";

function check(type: string, values: readonly unknown[]): string[] {
  const complaints = complaintsOf([imports, settingsImport, ...values.map((value, i) => `export const c${i}: ${type} = ${JSON.stringify(value)};`)]);
  return [...complaints].map(([line, text]) => `${text}\nin ${JSON.stringify(values[line - 2]).slice(0, 400)}`);
}

const users: object[] = [
  ...['terminal', 'agent', 'workspace', 'read-only', 'network-allow-all', 'off'].map((profile) => ({ enabled: true, profile })),
  { enabled: false },
  { enabled: true, apply_to: 'tool', git_access: 'none', limits: { processes: 5, memory_bytes: 1 << 20, cpu_percent: 12.5 } },
  { enabled: true, read_access: 'all', allow_fs_write_all: true, temp: 'private', nested_pty: 'off', backend: 'noop' },
  {
    enabled: true,
    strict: false,
    additional_read_only_paths: ['/nonexistent', '$SPTY_NOT_SET/x', '~/.ssh/below', '~/.ssh'],
    unix_sockets: ['/run/some.sock'],
    network_hosts: ['a.example', '*.b.example:443'],
    denied_domains: ['c.example'],
    git_access: 'read',
  },
];

function policies(): import('../../../dist/index').Policy[] {
  const repositories = [path.join(home, 'linked'), path.join(home, 'outer', 'inner'), path.join(projectDir, 'sub')];
  return users.flatMap((user) =>
    (['linux', 'macos'] as const).flatMap((platform) =>
      (['terminal', 'tool'] as const).map((kind) =>
        resolvePolicy({ settings: resolveSettings({ user, platform }), kind, projectDir, home, repositories, env: { PATH: '/bin' } }),
      ),
    ),
  );
}

test('policies and what is explained about them are what the typings say', () => {
  const all = policies();
  try {
    const described = all.map((policy) => policy.describe());
    expect(check('PolicyDescription', described)).toEqual([]);
    // The corpus has something to say about each type that a policy consists of.
    const parts = { Grant: described.flatMap(({ grants }) => grants), Hole: described.flatMap(({ holes }) => holes),
      SkippedPath: described.flatMap(({ skipped }) => skipped), GitRepository: described.flatMap(({ repositories }) => repositories) };
    for (const [type, found] of Object.entries(parts)) expect([type, found.length > 0]).toEqual([type, true]);
    expect(parts.GitRepository.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['main', 'linked-worktree', 'submodule']));
    expect(new Set(parts.SkippedPath.map(({ reason }) => reason)).size).toBeGreaterThanOrEqual(2);
    const explained = all.flatMap((policy) =>
      (['read', 'write', 'execute', 'connect'] as const).flatMap((access) =>
        [projectDir, '~/.ssh/id', '/etc/hosts', '/nonexistent/x', '/run/some.sock', '/run/docker.sock', 'a.example:443', 'c.example'].map((target) => explain(policy, access, target)),
      ),
    );
    expect(check('Explanation', explained)).toEqual([]);
    expect(explained.some(({ suggestion }) => suggestion?.caution !== undefined && suggestion.pointer !== undefined)).toBe(true);
  } finally {
    for (const policy of all) policy.dispose();
  }
});

test('problems and refusals are what the typings say', () => {
  const settings = resolveSettings({ user: { enabled: true } });
  const mistakes: (() => unknown)[] = [
    () => resolveSettings({ user: '{"stric": true, "limits": {"processes": -1}, "network_hosts": ["*"]' }),
    () => resolveSettings({ user: '{"stric": true, "limits": {"processes": -1}, "network_hosts": ["*"]}' }),
    () => resolveSettings({ project: '[' }),
    () => resolveSettings({ permissions: { write_paths: ['relative'] } }),
    () => resolveSettings({ user: { enabled: (() => true) as unknown as boolean } }),
    () => resolvePolicy({ settings, projectDir: path.join(place, 'none'), home }),
    () => resolvePolicy({ settings, projectDir: home, home }),
    () => resolvePolicy({ settings, projectDir, home, env: { 'A=': 'x' } }),
  ];
  const problems = mistakes.flatMap((mistake) => {
    try {
      mistake();
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError);
      return [...(error as InstanceType<typeof SettingsError>).problems];
    }
    throw new Error(`nothing was thrown by ${mistake.toString()}`);
  });
  expect(check('Problem', problems)).toEqual([]);
  expect(problems.some(({ systemCode, errno }) => systemCode === 'ENOENT' && errno === 2)).toBe(true);
  const { refused } = resolveSettings({ user: { enabled: true }, project: { strict: false, allow_fs_write_all: true } });
  expect(refused).toHaveLength(2);
  expect(check('Refusal', refused)).toEqual([]);
});

test('the report about a session is what the typings say', async () => {
  const reports: unknown[] = [];
  for (const sandbox of [null, { enabled: false }, { enabled: true, strict: false }, { enabled: true, strict: false, limits: { processes: 1000 }, profile: 'workspace' as const }]) {
    const pty = createSandboxedPty({ file: '/bin/sh', args: ['-c', 'exit 0'], projectDir, home, env: { PATH: '/usr/bin:/bin' }, sandbox });
    reports.push(pty.sandbox);
    await pty.dispose();
  }
  expect(check('Enforcement', reports)).toEqual([]);
});

test('these checks notice what does not fit', () => {
  const [policy] = policies();
  const good = policy?.describe() as unknown as Record<string, unknown>;
  const { strict, ...less } = good;
  expect(strict).toBeDefined();
  for (const bad of [{ ...good, more: 1 }, less, { ...good, temp: 'none' }, { ...good, holes: [{}] }]) expect(check('PolicyDescription', [bad])).toHaveLength(1);
});

/** The tables of names in the C++ sources: enumeration -> names. */
function enumNames(file: string): [string, string[]][] {
  const text = fs.readFileSync(path.join(root, 'native', file), 'utf8');
  const tables = [...text.matchAll(/constexpr EnumName<(\w+)> \w+\[\] = \{(.*?)\};/gs)];
  return tables.map(([, name, body]) => [name as string, [...(body as string).matchAll(/"([^"]+)"/g)].map(([, word]) => word as string)]);
}

test('the unions of words are those of the C++ enumerations', () => {
  const unions: Record<string, string> = {
    Rights: "Rights | 'none'", // which no grant has
    Access: 'Access',
    GrantKind: "Grant['kind']",
    HoleKind: "Hole['kind']",
    NetworkMode: "PolicyDescription['network']['mode']",
    RepositoryKind: "GitRepository['kind']",
    SkipReason: "SkippedPath['reason']",
    Protection: 'Protection',
    Platform: 'Platform',
    SessionKind: 'SessionKind',
    ApplyTo: "NonNullable<SandboxSettings['apply_to']>",
    Profile: 'Profile',
    ReadAccess: "NonNullable<SandboxSettings['read_access']>",
    ProjectAccess: "'read-only' | 'read-write'", // a part of a profile; never handed out
    GitAccess: "GitAccess & PolicyDescription['gitAccess']",
    TempMode: "PolicyDescription['temp'] & NonNullable<SandboxSettings['temp']>",
    NestedPty: "PolicyDescription['nestedPty'] & NonNullable<SandboxSettings['nested_pty']>",
    Backend: "PolicyDescription['backend'] & NonNullable<SandboxSettings['backend']>",
    Layer: "Layer & Origin['layer']",
  };
  const layers = fs.readFileSync(path.join(root, 'native', 'settings', 'origin.cc'), 'utf8').matchAll(/case Layer::\w+:\s+return "([^"]+)";/g);
  const tables = [...enumNames('settings/types.cc'), ...enumNames('policy/policy_names.cc'), ['Layer', [...layers].map(([, word]) => word as string)] as const];
  expect(tables.map(([name]) => name).sort()).toEqual(Object.keys(unions).sort());
  const lines = tables.map(([name, words], i) => `export const e${i}: Same<${unions[name]}, ${words.map((word) => `'${word}'`).join(' | ')}> = true;`);
  const same = 'type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;';
  const complaints = complaintsOf([imports, settingsImport, same, ...lines, "export const wrong: Same<Rights, 'read'> = true;"]);
  expect([...complaints.keys()].map((line) => lines[line - 3] ?? 'the wrong one')).toEqual(['the wrong one']);
});
