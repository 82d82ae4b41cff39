import * as path from 'path';

const dist = path.join(__dirname, '..', '..', '..', 'dist');
const { checkSettings, resolveSettings, ResolvedSettings } = require(path.join(dist, 'settings.js')) as typeof import('../../../dist/settings');
const { SettingsError } = require(path.join(dist, 'settings-error.js')) as typeof import('../../../dist/settings-error');
const { loadNative } = require(path.join(dist, 'native-loader.js')) as typeof import('../../../dist/native-loader');
const { SandboxError } = require(path.join(dist, 'errors.js')) as typeof import('../../../dist/errors');

function problemOf(run: () => unknown): InstanceType<typeof SettingsError> {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return error as InstanceType<typeof SettingsError>;
  }
  throw new Error('nothing was thrown');
}

test('defaults, layers and their origins', () => {
  const settings = resolveSettings({
    user: '{ /* mine */ "enabled": true, "linux": {"strict": false}, }',
    permissions: { write_paths: ['/w'] },
    platform: 'linux',
  });
  expect(settings.effective().enabled).toBe(true);
  expect(settings.effective().strict).toBe(false);
  expect(settings.effective().additional_read_write_paths).toEqual(['/w']);
  expect(settings.origins()['strict']).toEqual({ layer: 'user-platform', pointer: '/linux/strict' });
  expect(settings.effective().system_paths.read_write).toContain('/tmp');
  expect(resolveSettings({ platform: 'macos' }).effective().system_paths.read_write).toContain('/private/tmp');
});

test('an untrusted project can only tighten, and what it did not get is reported', () => {
  const layers = { user: { enabled: true }, project: { strict: false, git_access: 'none' as const } };
  const untrusted = resolveSettings(layers);
  expect(untrusted.effective().strict).toBe(true);
  expect(untrusted.effective().git_access).toBe('none');
  expect(untrusted.refused).toMatchObject([{ layer: 'project', pointer: '/strict' }]);
  expect(resolveSettings({ ...layers, projectTrusted: true }).effective().strict).toBe(false);
});

test('errors name the place, what to do, and all mistakes', () => {
  const error = problemOf(() =>
    resolveSettings({ user: '{"system_paths": {"executable": ["/a", "/b", 3]}, "stric": true}', userPointer: '/sandbox' }),
  );
  expect(error).toBeInstanceOf(SandboxError);
  expect(error.code).toBe('ERR_SETTINGS');
  expect(error.pointer).toBe('/sandbox/system_paths/executable/2');
  expect(error.problems).toHaveLength(2);
  expect(error.problems[1]).toMatchObject({ pointer: '/sandbox/stric', suggestion: 'Did you mean "strict"?' });
  expect(error.message).toContain('user settings at /sandbox/system_paths/executable/2');
});

test('what JSON cannot say is refused instead of dropped', () => {
  const circular: Record<string, unknown> = {};
  circular['limits'] = circular;
  const bad: [unknown, string][] = [
    [{ limits: { processes: NaN } }, '/limits/processes'],
    [{ enabled: () => true }, '/enabled'],
    [{ limits: { processes: 10n } }, '/limits/processes'],
    [{ allowed_env_vars: ['A', undefined] }, '/allowed_env_vars/1'],
    [circular, '/limits'],
  ];
  for (const [user, pointer] of bad) expect(problemOf(() => resolveSettings({ user: user as object })).pointer).toBe(pointer);
  expect(resolveSettings({ user: { enabled: undefined as unknown as null } }).effective().enabled).toBe(false);
});

test('an object that is too deep is refused as its text is', () => {
  const nested = (depth: number): object => {
    let value: object = {};
    for (let i = 1; i < depth; i++) value = { limits: value };
    return value;
  };
  for (const depth of [65, 100_000]) {
    const error = problemOf(() => resolveSettings({ user: nested(depth) }));
    expect(error).toMatchObject({ code: 'ERR_SETTINGS', pointer: '/limits'.repeat(64) });
    expect(error.message).toContain('nested more than 64 deep');
  }
  expect(problemOf(() => resolveSettings({ user: JSON.stringify(nested(65)) })).message).toContain('nested more than 64 deep');
  // So deep is still a matter for the parser, which knows a better reason.
  expect(problemOf(() => resolveSettings({ user: nested(64) })).message).not.toContain('nested more than');
});

test('a platform, a shape or a kind that nobody knows is a TypeError', () => {
  const user = { enabled: true, macos: { strict: false }, windows: { git_access: 'none' as const } };
  const bad: (() => unknown)[] = [
    () => resolveSettings({ user, platform: 'freebsd' as 'linux' }),
    () => resolveSettings({ user, platform: 'constructor' as 'linux' }),
    () => resolveSettings({ user, platform: null as unknown as 'linux' }),
    () => resolveSettings({ user, shape: 'Editor' as 'editor' }),
    () => resolveSettings({ user, shape: 'permissions' as 'editor' }),
    () => resolveSettings({ user, userPointer: 5 as unknown as string }),
    () => resolveSettings({ user, projectTrusted: 'yes' as unknown as boolean }),
    () => checkSettings(user, 'Editor' as 'editor'),
    () => resolveSettings({ user }).effective('agent' as 'tool'),
    () => resolveSettings({ user }).origins('agent' as 'tool'),
  ];
  for (const call of bad) expect(call).toThrow(TypeError);
  expect(resolveSettings({ user, platform: 'darwin' })).toBe(resolveSettings({ user, platform: 'macos' }));
  expect(resolveSettings({ user, platform: 'darwin' }).effective().strict).toBe(false);
  expect(resolveSettings({ user, platform: 'win32' }).effective().git_access).toBe('none');
});

test('nor does the addon guess', () => {
  const native = loadNative();
  // Jest has a TypeError of its own.
  const typeError = expect.objectContaining({ name: 'TypeError' }) as Error;
  const layers = { user: undefined, project: undefined, permissions: undefined, platform: 'linux', projectTrusted: false };
  const { handle } = native.resolveSettings(layers) as unknown as { handle: never };
  const input = { settings: handle, kind: 'terminal', projectDir: '', cwd: '', home: '/', term: '', tempDir: '', repositories: [], unsandboxed: false, env: [] };
  const document = { text: '{}', pointer: '', shape: 'auto' };
  const calls: [(argument: any) => unknown, object, object[]][] = [
    [native.resolveSettings, layers, [{ platform: 'darwin' }, { platform: 5 }, { projectTrusted: 1 }, { user: 'x' }, { user: { ...document, shape: 'x' } }, { user: {} }, { permissions: document }]],
    [native.parse, document, [{ text: 5 }, { pointer: null }, { shape: 'x' }, { shape: undefined }]],
    [
      native.resolvePolicy,
      input,
      [{ kind: 'agent' }, { kind: undefined }, { projectDir: 5 }, { cwd: null }, { home: {} }, { term: 1 }, { tempDir: 1 }, { repositories: '/' }, { repositories: [1] },
        { unsandboxed: 1 }, { env: ['A'] }, { env: ['A', 1] }, { env: {} }, { env: undefined }, { extraEnv: 'A' }, { settings: {} }],
    ],
  ];
  for (const [call, good, mistakes] of calls) {
    expect(() => call(good)).not.toThrow();
    for (const mistake of mistakes) expect(() => call({ ...good, ...mistake })).toThrow(typeError);
    expect(() => call(undefined)).toThrow(typeError);
  }
  expect(() => native.describeSettings(handle, 'agent')).toThrow(typeError);
});

test('the same settings are parsed once, changed ones again', () => {
  const user = { enabled: true, network_hosts: ['a.example'] };
  const first = resolveSettings({ user });
  expect(resolveSettings({ user })).toBe(first);
  expect(resolveSettings({ user: JSON.stringify(user) })).toBe(first);
  expect(resolveSettings({ user: structuredClone(user) })).toBe(first);
  expect(first).toBeInstanceOf(ResolvedSettings);
  expect(resolveSettings({ user, projectTrusted: true })).not.toBe(first);
  expect(resolveSettings({ user, platform: 'macos' })).not.toBe(first);
  expect(resolveSettings({ user, project: user })).not.toBe(first);
  user.network_hosts.push('b.example');
  expect(resolveSettings({ user })).not.toBe(first);
  expect(resolveSettings({ user }).effective().network_hosts).toEqual(['a.example', 'b.example']);
  user.network_hosts.pop();
  expect(resolveSettings({ user })).toBe(first);
});

test('the same object is not even written out again', () => {
  const user = { enabled: true, limits: { processes: 7 }, network_hosts: ['once.example'], strict: undefined as unknown as null };
  const project = Object.freeze({ git_access: 'none' as const });
  const first = resolveSettings({ user, project });
  const stringify = jest.spyOn(JSON, 'stringify');
  const parse = jest.spyOn(JSON, 'parse');
  try {
    expect(resolveSettings({ user, project })).toBe(first);
    expect(stringify).not.toHaveBeenCalled();
    user.limits.processes = 8;
    expect(resolveSettings({ user, project })).not.toBe(first);
    // Which shows that the spies see what they should.
    expect(stringify).toHaveBeenCalledTimes(1);
    expect(parse).toHaveBeenCalled();
  } finally {
    stringify.mockRestore();
    parse.mockRestore();
  }
});

test('an object that was changed in place, however, is not answered from the cache', () => {
  type Document = Record<string, any>;
  let fromGetter = 1;
  const changes: [string, (user: Document) => void, (effective: Document) => unknown, unknown][] = [
    ['a value', (user) => (user['enabled'] = false), (e) => e['enabled'], false],
    ['a new member', (user) => (user['git_access'] = 'none'), (e) => e['git_access'], 'none'],
    ['a member less', (user) => delete user['strict'], (e) => e['strict'], true],
    ['a member that is undefined now', (user) => (user['strict'] = undefined), (e) => e['strict'], true],
    ['null instead', (user) => (user['strict'] = null), (e) => e['strict'], true],
    ['one member for another', (user) => { delete user['strict']; user['fail_if_unavailable'] = true; }, (e) => [e['strict'], e['fail_if_unavailable']], [true, true]],
    ['a nested value', (user) => (user['limits'].processes = 9), (e) => e['limits'].processes, 9],
    ['an element', (user) => (user['network_hosts'][1] = 'z.example'), (e) => e['network_hosts'], ['a.example', 'z.example']],
    ['the order', (user) => user['network_hosts'].reverse(), (e) => e['network_hosts'], ['b.example', 'a.example']],
    ['a shorter list', (user) => (user['network_hosts'].length = 1), (e) => e['network_hosts'], ['a.example']],
    ['another list', (user) => (user['network_hosts'] = []), (e) => e['network_hosts'], []],
    ['an accessor', () => (fromGetter = 2), (e) => e['limits'].memory_bytes, 2 << 20],
    ['toJSON', (user) => Object.setPrototypeOf(user, { toJSON: () => ({ enabled: false }) }), (e) => e['enabled'], false],
  ];
  for (const [what, change, read, expected] of changes) {
    fromGetter = 1;
    const user: Document = {
      enabled: true,
      strict: false,
      limits: { processes: 5, get memory_bytes() { return fromGetter << 20; } },
      network_hosts: ['a.example', 'b.example'],
    };
    const before = resolveSettings({ user });
    expect(resolveSettings({ user })).toBe(before);
    expect([what, read(before.effective())]).not.toEqual([what, expected]);
    change(user);
    expect([what, read(resolveSettings({ user }).effective())]).toEqual([what, expected]);
  }
});

test('an object that was good and is not any more is refused', () => {
  const user: Record<string, unknown> = { enabled: true, limits: { processes: 5 } };
  resolveSettings({ user });
  user['limits'] = { processes: NaN };
  expect(problemOf(() => resolveSettings({ user })).pointer).toBe('/limits/processes');
  user['limits'] = user;
  expect(problemOf(() => resolveSettings({ user })).pointer).toBe('/limits');
  user['limits'] = { processes: '5' };
  expect(problemOf(() => resolveSettings({ user })).pointer).toBe('/limits/processes');
});

test('more settings than the cache holds', () => {
  const all = Array.from({ length: 40 }, (_, index) => ({ limits: { processes: index + 10 } }));
  const first = resolveSettings({ user: all[0]! });
  for (const user of all) {
    expect(resolveSettings({ user }).effective().limits.processes).toBe(user.limits.processes);
    expect(resolveSettings({ user: all[0]! })).toBe(first);
  }
});

test("an editor's document, with the agent's approvals for tools only", () => {
  const user = {
    theme: 'dark',
    terminal: { sandbox: { enabled: true, profile: 'agent' as const } },
    agent: { sandbox_permissions: { network_hosts: ['github.com'], allow_git_access: true } },
  };
  const settings = resolveSettings({ user });
  expect(settings.effective('terminal').network_hosts).toEqual([]);
  expect(settings.effective('tool').network_hosts).toEqual(['github.com']);
  expect(settings.effective('tool').git_access).toBe('full');
  expect(resolveSettings({ user: { theme: 'dark' }, shape: 'editor' }).effective().enabled).toBe(false);
  expect(problemOf(() => resolveSettings({ user: { theme: 'dark' } })).pointer).toBe('/theme');
});

interface SchemaField {
  description?: string;
  default?: unknown;
  properties?: Record<string, SchemaField>;
}

/** null is a setting's default where that depends on the profile or the platform, where there is none, and for aliases. */
const withoutOneDefault = [
  'system_paths', 'system_paths.executable', 'system_paths.read_only', 'system_paths.read_write', 'allow_read', 'allow_write', 'write_paths',
  'read_access', 'denied_read_paths', 'allow_network', 'unix_sockets', 'git_access', 'allow_git_access', 'temp', 'nested_pty', 'limits',
  'limits.processes', 'limits.memory_bytes', 'limits.cpu_percent',
];

test('the schema describes every field and documents the defaults that are in force', () => {
  const schema = require(path.join(dist, '..', 'schema', 'settings.schema.json')) as { $defs: Record<string, SchemaField> };
  const fields = new Map<string, SchemaField>();
  for (const [name, field] of Object.entries(schema.$defs)) {
    if (!name.startsWith('field_')) continue;
    const key = name.slice('field_'.length);
    fields.set(key, field);
    for (const [inner, node] of Object.entries(field.properties ?? {})) fields.set(`${key}.${inner}`, node);
  }
  expect([...fields].filter(([, { description }]) => !description).map(([key]) => key)).toEqual([]);
  expect([...fields].filter(([, field]) => field.default === null).map(([key]) => key).sort()).toEqual([...withoutOneDefault].sort());

  const profiles = ['terminal', 'agent', 'workspace', 'read-only', 'network-allow-all'] as const;
  const seen = new Map<string, Set<string>>();
  for (const platform of ['linux', 'macos'] as const) {
    for (const profile of profiles) {
      const { system_paths, limits, ...plain } = resolveSettings({ platform, user: { profile } }).effective();
      const { executable, read_only, read_write } = system_paths;
      const all: Record<string, unknown> = {
        ...plain, limits, 'system_paths.executable': executable, 'system_paths.read_only': read_only, 'system_paths.read_write': read_write,
      };
      for (const [key, value] of Object.entries(all)) seen.set(key, (seen.get(key) ?? new Set()).add(JSON.stringify(value)));
    }
  }
  for (const [key, field] of fields) {
    if (key === 'profile') expect(resolveSettings({}).effective().profile).toBe(field.default);
    else if (key === 'allow_all_hosts') expect(field.default).toBe(false); // part of the effective allow_network
    else if (field.default !== null) expect([key, [...(seen.get(key) ?? [])]]).toEqual([key, [JSON.stringify(field.default)]]);
  }
  expect(resolveSettings({}).effective().limits).toEqual({});
  // What has no single default is really not the same everywhere.
  const alike = withoutOneDefault.filter((key) => seen.get(key)?.size === 1 && key !== 'limits');
  expect(alike).toEqual([]);

  const documented = schema.$defs['field_system_paths']?.properties ?? {};
  for (const platform of ['linux', 'macos'] as const) {
    const paths = resolveSettings({ platform }).effective().system_paths;
    for (const category of ['executable', 'read_only', 'read_write'] as const) {
      expect(documented[category]?.description).toContain(paths[category].join(', '));
    }
  }
});

test('the schema describes every approval, and the default of each is no', () => {
  const schema = require(path.join(dist, '..', 'schema', 'settings.schema.json')) as { $defs: Record<string, SchemaField> };
  const approvals = Object.entries(schema.$defs['permissions']?.properties ?? {});
  expect(approvals).toHaveLength(6);
  for (const [key, field] of approvals) {
    expect([key, typeof field.description]).toEqual([key, 'string']);
    expect([key, field.default]).toEqual([key, key.startsWith('allow_') ? false : []]);
  }
});
