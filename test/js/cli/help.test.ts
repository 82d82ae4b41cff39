// The words: help for everything, a manual page that is up to date, and mistakes that are named.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ours, repositoryRoot } from '../support';
import { cli, run } from './support';

interface Table {
  commands: { name: string; groups: { flags: { name: string; setting?: { kind: string; key?: string; aliases?: string[] } }[] }[] }[];
}
const { commands } = require(path.join(repositoryRoot, 'dist/cli/flags.js')) as Table;
const flags = [...new Set(commands.flatMap(({ groups }) => groups.flatMap((group) => group.flags)))];

ours('--help names every command and every option, in lines that fit', async () => {
  for (const args of [['--help'], ['-h'], ['help']]) {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const { name } of commands) expect(stdout).toContain(`sandboxed-pty ${name}`);
    for (const { name } of flags) expect(stdout).toContain(`  --${name}`);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    expect(stdout).not.toContain('\x1b');
  }
});

ours('each command has its own help', async () => {
  for (const command of commands) {
    const { code, stdout } = await run([command.name, '--help']);
    expect(code).toBe(0);
    for (const { name } of command.groups.flatMap((group) => group.flags)) expect(stdout).toContain(`--${name}`);
    expect((await run(['help', command.name])).stdout).toBe(stdout);
  }
});

ours('every setting has an option, or a reason to have none', () => {
  const schema = JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'schema/settings.schema.json'), 'utf8')) as { properties: object };
  const without: Record<string, string> = {
    enabled: 'run is there to confine; --profile off is the way out',
    apply_to: 'what --kind is compared with',
    system_paths: 'a whole list that is replaced: for a file',
    allow_all_hosts: '--network',
    allow_unsandboxed: 'a permission for tools that ask to run outside',
    linux: 'a block',
    macos: 'a block',
    windows: 'a block',
  };
  const covered = flags.flatMap(({ name, setting }) => [
    ...(setting?.key === undefined ? [] : [setting.key, ...(setting.aliases ?? [])]),
    ...(name === 'env' ? ['allowed_env_vars'] : []),
    ...(name === 'limit' ? ['limits'] : []),
  ]);
  const missing = Object.keys(schema.properties).filter((key) => !covered.includes(key) && !(key in without));
  expect(missing).toEqual([]);
});

ours('the manual page is the one that the tables make', () => {
  execFileSync(process.execPath, [path.join(repositoryRoot, 'scripts/man.mjs'), '--check'], { stdio: 'pipe' });
});

ours('the package offers the command', async () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'));
  expect(path.join(repositoryRoot, manifest.bin['sandboxed-pty'])).toBe(cli);
  expect(fs.readFileSync(cli, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true);
  expect((await run(['--version'])).stdout).toBe(`${manifest.version}\n`);
});

ours('mistakes are named, with what was meant', async () => {
  const cases: [string[], number, RegExp][] = [
    [[], 2, /What is to be done/],
    [['ru'], 2, /Did you mean run\?/],
    [['npm', 'test'], 2, /sandboxed-pty run -- npm/],
    [['--profile', 'agent'], 2, /after the command/],
    [['run'], 125, /needs a program/],
    [['run', '--reed', '/x', '--', 'true'], 125, /no option --reed/],
    [['run', '--read-al', '--', 'true'], 125, /Did you mean --read/],
    [['run', '--read'], 125, /--read needs a value/],
    [['run', '--report=yes', '--', 'true'], 125, /takes no value/],
    [['run', '--timeout', 'soon', '--', 'true'], 125, /--timeout takes a time/],
    [['run', '--limit', 'x=1', '--', 'true'], 125, /--limit takes/],
    [['shell', 'x'], 125, /shell takes no program/],
    [['doctor', 'x'], 2, /takes no arguments/],
  ];
  for (const [args, code, message] of cases) {
    expect(await run(args)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  }
});
