// Writes generated.json: for every field what is right and what is wrong with it. Run it after a change of the schema:
//   node test/settings-corpus/generate.mjs
// A case: {name, shape, text, valid, level, pointer}. `level` says who can see the mistake: 'structure' (types and
// names: schema, typings and library) or 'value' (contents: schema and library; typings know no patterns).
import {writeFileSync} from 'node:fs';

const cases = [];
const add = (name, shape, document, mistake) =>
  cases.push({name, shape, text: JSON.stringify(document), valid: !mistake, ...mistake});
const structure = (pointer) => ({level: 'structure', pointer});
const value = (pointer) => ({level: 'value', pointer});

const paths = {
  good: ['/a', '~', '~/x', '$HOME/x', '${VAR}/y', '.', './x', '../x', 'x y', '/ä/日本', '/a\nb', '-', '$', '/a~b', 'C:\\x'],
  bad: ['', 'a\u0000b', '\u0000', '~bob', '~bob/x', '~~'],
};
const hosts = {
  good: ['github.com', 'GitHub.COM', 'a.b.', 'localhost', '*.npmjs.org', '*.a.b.c.d', 'a.b:443', '*.a.b:1', 'a.b:65535',
    'a-b.c', 'a_b.c', '_dmarc.a.b', '1a.b', 'a1.b2c', '0x.example', 'bücher.example', 'BÜCHER.example', '*.münchen.de',
    '例え.jp', 'пример.рф', 'xn--bcher-kva.example', '*.example.co.uk', '*.me.github.io', 'github.io', 'co.uk', 'a.b.:80',
    `${'a'.repeat(63)}.b`, 'x.y.z.example', '3com.com', 'ελ.gr', '한국.kr'],
  bad: ['', '*', '*.', '.', '..', '*.com', '*.COM', '*.com.', '*.com:443', '*.internal', '*.co.uk', '*.Co.UK', '*.com.au',
    '*.github.io', '*.GitHub.io', '*.vercel.app:443', '1.2.3.4', '127.1', '2130706433', '0x7f.1', '0x7f000001', '0x',
    '1.2.3.4:80', '1.2.3.4.', '*.1.2.3', '[::1]', '::1', '[::1]:80', 'fe80::1%eth0', 'a..b', '.a.b', 'a.b..', '-a.b',
    'a-.b', 'a b', 'a.b ', ' a.b', 'a\tb', 'a\nb', 'a.b\n', 'https://a.b', 'a.b/c', 'u@a.b', '**.a.b', 'a.*.b', '*a.b',
    'a.*', '*.*.b.c', '*:80', 'a.b:', 'a.b:0', 'a.b:65536', 'a.b:99999', 'a.b:08', 'a.b:+1', 'a.b:x', 'a.b:80:90', ':80',
    'ab--cd.b', 'a!.b', 'a%2e.b', 'e\u0301.org', '💩.la', 'a\u200bb.c', 'ﬁ.org', 'a。b', 'exa\u00admple.org', '-é.org',
    'é-.org', 'a\u0000.b', `${'a'.repeat(64)}.b`, `${'abc.'.repeat(63)}abc`, 'İ.com', 'a b.c:80', 'xn--.b'],
};
const names = {
  good: ['PATH', 'LC_*', '*', 'a', 'A B', 'Ä', 'X.Y', '_'],
  bad: ['', 'A=B', '=', 'A*B', '**', '*A', 'A\u0000', 'A=*'],
};
const words = {
  apply_to: ['terminal', 'tool', 'both', 'neither'],
  profile: ['terminal', 'agent', 'workspace', 'read-only', 'network-allow-all', 'off'],
  read_access: ['listed', 'all'],
  git_access: ['none', 'read', 'commit', 'full'],
  temp: ['shared', 'private'],
  nested_pty: ['shared', 'private', 'off'],
  backend: ['auto', 'seatbelt', 'landlock', 'landlock-bwrap', 'noop'],
};
const booleans = ['enabled', 'allow_network', 'allow_all_hosts', 'allow_git_access', 'allow_fs_write_all',
  'allow_unsandboxed', 'allow_wide_project', 'strict', 'fail_if_unavailable'];
const lists = {
  additional_executable_paths: paths, additional_read_only_paths: paths, additional_read_write_paths: paths,
  allow_read: paths, allow_write: paths, write_paths: paths, denied_read_paths: paths, unix_sockets: paths,
  network_hosts: hosts, denied_domains: hosts, allowed_env_vars: names,
};
const limits = {
  processes: {good: [1, 100, 4194304, 1e3], bad: [0, -1, 4194305, 1.5, 1e300]},
  memory_bytes: {good: [1048576, 9007199254740991], bad: [0, 1048575, 1e17, 1048576.5]},
  cpu_percent: {good: [1, 0.5e1, 102400, 150.5], bad: [0, 0.99, -5, 102401]},
};
const wrongTypes = {
  boolean: ['true', 0, 1, [], {}, ['true']],
  word: [true, 1, [], {}],
  list: [true, 1, 'x', {}],
  object: [true, 1, 'x', []],
  number: [true, 'x', [], {}],
};

for (const key of booleans) {
  for (const good of [true, false, null]) add(`${key} ${good}`, 'sandbox', {[key]: good});
  for (const bad of wrongTypes.boolean) add(`${key} ${JSON.stringify(bad)}`, 'sandbox', {[key]: bad}, structure(`/${key}`));
}
for (const [key, good] of Object.entries(words)) {
  for (const word of [...good, null]) add(`${key} ${word}`, 'sandbox', {[key]: word});
  for (const bad of [...wrongTypes.word, '', good[0].toUpperCase(), `${good[0]} `]) {
    add(`${key} ${JSON.stringify(bad)}`, 'sandbox', {[key]: bad}, structure(`/${key}`));
  }
}
for (const [key, pool] of Object.entries(lists)) {
  for (const good of [null, [], pool.good]) add(`${key} list of ${good?.length}`, 'sandbox', {[key]: good});
  for (const bad of wrongTypes.list) add(`${key} ${JSON.stringify(bad)}`, 'sandbox', {[key]: bad}, structure(`/${key}`));
  for (const bad of [null, 1, true, [], {}]) {
    add(`${key} element ${JSON.stringify(bad)}`, 'sandbox', {[key]: [pool.good[0], bad]}, structure(`/${key}/1`));
  }
}
// Each text once, in one of the fields that take it.
for (const [key, pool] of [['additional_read_only_paths', paths], ['network_hosts', hosts], ['allowed_env_vars', names]]) {
  for (const good of pool.good) add(`${key} ${good}`, 'sandbox', {[key]: [good]});
  for (const bad of pool.bad) add(`${key} ${JSON.stringify(bad)}`, 'sandbox', {[key]: [pool.good[0], bad]}, value(`/${key}/1`));
}
for (const key of ['executable', 'read_only', 'read_write']) {
  for (const good of [null, [], ['/a', '~/b']]) add(`system_paths.${key}`, 'sandbox', {system_paths: {[key]: good}});
  for (const bad of wrongTypes.list) {
    add(`system_paths.${key} ${JSON.stringify(bad)}`, 'sandbox', {system_paths: {[key]: bad}}, structure(`/system_paths/${key}`));
  }
  add(`system_paths.${key} third`, 'sandbox', {system_paths: {[key]: ['/a', '/b', 3]}}, structure(`/system_paths/${key}/2`));
}
for (const [key, pool] of Object.entries(limits)) {
  for (const good of [...pool.good, null]) add(`limits.${key} ${good}`, 'sandbox', {limits: {[key]: good}});
  for (const bad of pool.bad) add(`limits.${key} ${bad}`, 'sandbox', {limits: {[key]: bad}}, value(`/limits/${key}`));
  for (const bad of wrongTypes.number) {
    add(`limits.${key} ${JSON.stringify(bad)}`, 'sandbox', {limits: {[key]: bad}}, structure(`/limits/${key}`));
  }
}
for (const key of ['system_paths', 'limits', 'linux', 'macos', 'windows']) {
  for (const good of [null, {}]) add(`${key} ${JSON.stringify(good)}`, 'sandbox', {[key]: good});
  for (const bad of wrongTypes.object) add(`${key} ${JSON.stringify(bad)}`, 'sandbox', {[key]: bad}, structure(`/${key}`));
  add(`${key} with a stranger`, 'sandbox', {[key]: {stranger: 1}}, structure(`/${key}/stranger`));
}
for (const platform of ['linux', 'macos', 'windows']) {
  add(`${platform} block`, 'sandbox', {enabled: true, [platform]: {strict: false, network_hosts: ['a.b']}});
  add(`${platform} block, wrong`, 'sandbox', {[platform]: {strict: 1}}, structure(`/${platform}/strict`));
  add(`${platform} block, bad host`, 'sandbox', {[platform]: {network_hosts: ['*']}}, value(`/${platform}/network_hosts/0`));
  add(`${platform} in ${platform}`, 'sandbox', {[platform]: {[platform]: {}}}, structure(`/${platform}/${platform}`));
}
const pairs = [['additional_read_only_paths', 'allow_read'], ['additional_read_write_paths', 'allow_write'],
  ['additional_read_write_paths', 'write_paths'], ['allow_write', 'write_paths']];
for (const [first, second] of pairs) {
  add(`${first} and ${second}`, 'sandbox', {[first]: ['/a'], [second]: ['/b']}, structure(`/${second}`));
}
add('git_access and allow_git_access', 'sandbox', {git_access: 'full', allow_git_access: true}, structure('/allow_git_access'));
for (const key of ['enabeld', 'Enabled', 'terminal', 'sandbox', '', 'allow_networks', 'denied_read_path', 'a/b', '$schema']) {
  const token = key.replaceAll('~', '~0').replaceAll('/', '~1');
  add(`stranger ${key}`, 'sandbox', {[key]: true}, structure(`/${token}`));
}

for (const key of ['allow_all_hosts', 'allow_git_access', 'allow_fs_write_all', 'allow_unsandboxed']) {
  for (const good of [true, false, null]) add(`permission ${key} ${good}`, 'permissions', {[key]: good});
  add(`permission ${key} wrong`, 'permissions', {[key]: 1}, structure(`/${key}`));
}
add('permission hosts', 'permissions', {network_hosts: ['github.com', '*.npmjs.org']});
add('permission bad host', 'permissions', {network_hosts: ['*.com']}, value('/network_hosts/0'));
add('permission paths', 'permissions', {write_paths: ['/a', '~', '~/b', '$HOME/c']});
for (const bad of ['x', './x', '', '~bob/x', '/a\u0000']) {
  add(`permission path ${JSON.stringify(bad)}`, 'permissions', {write_paths: [bad]}, value('/write_paths/0'));
}
for (const key of ['git_access', 'enabled', 'allow_read']) {
  add(`permission stranger ${key}`, 'permissions', {[key]: null}, structure(`/${key}`));
}

const noise = {'theme': 'dark', 'editor.fontSize': 12, '[python]': {x: 1}, 'terminal.integrated.shell': 'zsh'};
const sandbox = {enabled: true, profile: 'agent', allow_read: ['~/x']};
add('editor without sections', 'editor', noise);
add('editor nested', 'editor', {...noise, terminal: {shell: 'zsh', sandbox}, agent: {sandbox_permissions: {allow_git_access: true}}});
add('editor dotted object', 'editor', {...noise, 'terminal.sandbox': sandbox, 'agent.sandbox_permissions': {}});
add('editor dotted fields', 'editor', {...noise, 'terminal.sandbox.enabled': true, 'terminal.sandbox.system_paths.executable': ['/x']});
for (const empty of [{terminal: null}, {agent: {}}, {terminal: {sandbox: null}}, {linux: null}, {linux: {terminal: {}}}]) {
  add(`editor ${JSON.stringify(empty)}`, 'editor', empty);
}
for (const platform of ['linux', 'macos', 'windows']) {
  add(`editor ${platform}`, 'editor', {[platform]: {theme: 'x', terminal: {sandbox: {strict: false}}}});
  add(`editor ${platform} wrong`, 'editor', {[platform]: {terminal: {sandbox: {strict: 1}}}}, structure(`/${platform}/terminal/sandbox/strict`));
}
add('editor wrong section', 'editor', {terminal: 1}, structure('/terminal'));
add('editor wrong field', 'editor', {terminal: {sandbox: {profile: 'x'}}}, structure('/terminal/sandbox/profile'));
add('editor stranger', 'editor', {terminal: {sandbox: {stric: true}}}, structure('/terminal/sandbox/stric'));
add('editor bad host', 'editor', {agent: {sandbox_permissions: {network_hosts: ['1.2.3.4']}}}, value('/agent/sandbox_permissions/network_hosts/0'));
// Dotted names are open-ended for the typings.
add('editor dotted stranger', 'editor', {'terminal.sandbox.stric': true}, value('/terminal.sandbox.stric'));
add('editor dotted wrong', 'editor', {'terminal.sandbox.strict': 1}, value('/terminal.sandbox.strict'));
add('editor twice', 'editor', {'terminal': {sandbox: {}}, 'terminal.sandbox': {}}, value('/terminal.sandbox'));
add('editor twice, one dotted', 'editor', {'terminal.sandbox': {}, 'terminal.sandbox.strict': true}, value('/terminal.sandbox.strict'));
add('editor two names', 'editor', {'terminal.sandbox.allow_write': [], 'terminal.sandbox.write_paths': []}, value('/terminal.sandbox.write_paths'));

writeFileSync(new URL('generated.json', import.meta.url), `[\n${cases.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
console.log(`${cases.length} cases`);
