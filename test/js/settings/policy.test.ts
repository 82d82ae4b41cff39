import { execFileSync } from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

const dist = path.join(__dirname, '..', '..', '..', 'dist');
const { resolveSettings } = require(path.join(dist, 'settings.js')) as typeof import('../../../dist/settings');
const { explain, Policy, resolvePolicy } = require(path.join(dist, 'policy.js')) as typeof import('../../../dist/policy');

let root: string;
let home: string;
let projectDir: string;

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'spty-settings-')));
  home = path.join(root, 'home');
  projectDir = path.join(home, 'project');
  fs.mkdirSync(projectDir, { recursive: true });
  fs.mkdirSync(path.join(home, '.ssh'));
});

afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

// Without the shared /tmp, in which all of this lies.
const on = { enabled: true, system_paths: { read_write: ['/dev'] } };

test('a policy describes itself', () => {
  const policy = resolvePolicy({ settings: resolveSettings({ user: on, platform: 'linux' }), projectDir, home, env: { PATH: '/bin', SECRET: 'x' } });
  const description = policy.describe();
  expect(policy).toBeInstanceOf(Policy);
  expect(description.confined).toBe(true);
  expect(description.grants).toContainEqual({
    path: projectDir,
    rights: 'read+write',
    kind: 'project',
    by: { layer: 'caller', pointer: '/projectDir' },
  });
  expect(description.environment).toContain('PATH');
  expect(description.environment).not.toContain('SECRET');
  expect(description.required).toContain('files');
  expect(JSON.parse(JSON.stringify(policy))).toEqual(description);
});

test('kind and apply_to', () => {
  const settings = resolveSettings({ user: { ...on, apply_to: 'tool' } });
  expect(resolvePolicy({ settings, projectDir, home }).describe().confined).toBe(false);
  expect(resolvePolicy({ settings, projectDir, home, kind: 'tool' }).describe().confined).toBe(true);
});

test('arguments of the wrong type are TypeErrors, and never as good as absent', () => {
  const settings = resolveSettings({ user: { ...on, apply_to: 'tool' } });
  const mistakes: object[] = [
    { kind: 'agent' }, { kind: 5 }, { kind: null }, { projectDir: 5 }, { cwd: Buffer.from('/') }, { home: null }, { term: 5 }, { tempDir: [] },
    { repositories: '/' }, { repositories: [5] }, { unsandboxed: 'true' }, { env: 'A=1' }, { env: { A: 5 } }, { env: [] }, { extraEnv: { A: null } },
  ];
  for (const mistake of mistakes) {
    const input = { settings, projectDir, home, kind: 'tool' as const, ...mistake };
    expect(() => resolvePolicy(input)).toThrow(TypeError);
    expect(() => resolvePolicy(input)).toThrow(Object.keys(mistake)[0]);
  }
  const policy = resolvePolicy({ settings, projectDir, home });
  expect(() => explain(policy, 'read', 5 as unknown as string)).toThrow('target must be a string');
});

test('explain says who decided and what would help', () => {
  const policy = resolvePolicy({ settings: resolveSettings({ user: on }), projectDir, home });
  expect(explain(policy, 'write', './x')).toMatchObject({ allowed: true, by: { layer: 'caller', pointer: '/projectDir' } });
  const denied = explain(policy, 'read', '~/.ssh');
  expect(denied).toMatchObject({
    allowed: false,
    resolved: path.join(home, '.ssh'),
    by: { layer: 'default', pointer: '/denied_read_paths/0' },
    suggestion: { pointer: '/additional_read_only_paths/-', value: '~/.ssh' },
  });
  expect(denied.suggestion?.caution).toContain('credentials');
  expect(denied.text).toContain('denied');
  expect(() => explain(policy, 'sniff' as 'read', '/x')).toThrow("access must be 'read'");
  expect(() => explain({} as typeof policy, 'read', '/x')).toThrow(TypeError);
});

test('errors of the policy name the argument and the file', () => {
  const settings = resolveSettings({ user: on });
  expect(() => resolvePolicy({ settings, projectDir: home, home })).toThrow(
    expect.objectContaining({ code: 'ERR_POLICY', pointer: '/projectDir', layer: 'caller', path: home }),
  );
  expect(() => resolvePolicy({ settings, projectDir: path.join(root, 'none'), home })).toThrow(
    expect.objectContaining({ code: 'ERR_POLICY', errno: -2 }),
  );
  expect(() => resolvePolicy({ settings: {} as typeof settings, projectDir, home })).toThrow(TypeError);
});

test('the environment survives as bytes', () => {
  const settings = resolveSettings({ user: { ...on, allowed_env_vars: ['A*'] } });
  const env = { A1: 'line\nbreak', A2: 'x=y', A3: Buffer.from([0xff, 0xfe]), B: 'no', A4: undefined };
  const entries = resolvePolicy({ settings, projectDir, home, env, extraEnv: { EDITOR_TERM: 'true' }, term: 'dumb' }).environment();
  const text = entries.map((entry) => entry.toString('latin1'));
  expect(text).toEqual(['A1=line\nbreak', 'A2=x=y', 'A3=\xff\xfe', 'TERM=dumb', `PWD=${projectDir}`, 'EDITOR_TERM=true']);
  expect(() => resolvePolicy({ settings, projectDir, home, env: { 'A=': 'x' } })).toThrow(expect.objectContaining({ pointer: '/env/A=' }));
});

test("without env it is this process's, byte for byte", () => {
  // A fresh process: Jest's own process.env is a copy, and Node cannot put such bytes into one.
  const script = `
    const {resolveSettings} = require(${JSON.stringify(path.join(dist, 'settings.js'))});
    const {resolvePolicy} = require(${JSON.stringify(path.join(dist, 'policy.js'))});
    const settings = resolveSettings({user: {enabled: true, allowed_env_vars: ['SPTY_*']}});
    const entries = resolvePolicy({settings, projectDir: process.argv[1], home: process.argv[2]}).environment();
    console.log(entries[0].toString('hex'));`;
  const shell = 'SPTY_BYTES=$(printf "\\377=\\n.") exec "$0" -e "$1" "$2" "$3"';
  const output = execFileSync('/bin/sh', ['-c', shell, process.execPath, script, projectDir, home], { encoding: 'utf8' });
  expect(output.trim()).toBe(Buffer.from('SPTY_BYTES=\xff=\n.', 'latin1').toString('hex'));
});

test('a disposed policy has let go of its descriptors', () => {
  const settings = resolveSettings({ user: on });
  const count = (): number => fs.readdirSync('/dev/fd').length;
  const before = count();
  const policy = resolvePolicy({ settings, projectDir, home });
  expect(count()).toBeGreaterThan(before + 5);
  policy.dispose();
  policy.dispose();
  expect(count()).toBe(before);
  expect(() => explain(policy, 'read', '/')).toThrow('disposed');
});
