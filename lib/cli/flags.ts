/** One option of the command line. The parser, --help and the manual page are made from this table. */
export interface Flag {
  readonly name: string;
  /** What it takes; absent: nothing. */
  readonly value?: string;
  readonly repeats?: true;
  readonly text: string;
  /** The setting that it stands for, and how. */
  readonly setting?: SettingUse;
}

export type SettingUse =
  | { readonly kind: 'append'; readonly key: string; readonly aliases?: readonly string[] }
  | { readonly kind: 'choice'; readonly key: string; readonly values: readonly string[]; readonly aliases?: readonly string[] }
  | { readonly kind: 'constant'; readonly key: string; readonly to: boolean | string }
  | { readonly kind: 'limit' }
  | { readonly kind: 'environment' };

export interface FlagGroup {
  readonly title: string;
  readonly flags: readonly Flag[];
}

const append = (key: string, ...aliases: string[]): SettingUse => ({ kind: 'append', key, aliases });
const constant = (key: string, to: boolean | string): SettingUse => ({ kind: 'constant', key, to });

function choice(name: string, key: string, values: string[], text: string, aliases: string[] = []): Flag {
  return { name, value: values.join('|'), text, setting: { kind: 'choice', key, values, aliases } };
}

const profiles = ['terminal', 'agent', 'workspace', 'read-only', 'network-allow-all', 'off'];

export const settingFlags: FlagGroup = {
  title: 'What the program may do',
  flags: [
    choice('profile', 'profile', profiles, 'The bundle of defaults that the other options change. Without it: terminal.'),
    { name: 'read', value: 'PATH', repeats: true, text: 'May be read, too.', setting: append('additional_read_only_paths', 'allow_read') },
    { name: 'write', value: 'PATH', repeats: true, text: 'May be read and written, too.', setting: append('additional_read_write_paths', 'allow_write', 'write_paths') },
    { name: 'exec', value: 'PATH', repeats: true, text: 'May be read and executed, too.', setting: append('additional_executable_paths') },
    { name: 'deny-read', value: 'PATH', repeats: true, text: 'Is cut out of everything wider, as credentials are.', setting: append('denied_read_paths') },
    { name: 'read-all', text: 'Everything may be read but credentials.', setting: constant('read_access', 'all') },
    { name: 'write-all', text: 'Everything may be written but credentials and protected Git metadata.', setting: constant('allow_fs_write_all', true) },
    { name: 'network', text: 'Every host may be reached.', setting: constant('allow_network', true) },
    { name: 'no-network', text: 'No host may be reached.', setting: constant('allow_network', false) },
    { name: 'host', value: 'HOST[:PORT]', repeats: true, text: 'Only these hosts may be reached; *.example.org is everything below it.', setting: append('network_hosts') },
    { name: 'deny-host', value: 'HOST', repeats: true, text: 'May not be reached, whatever else is allowed.', setting: append('denied_domains') },
    { name: 'socket', value: 'PATH', repeats: true, text: 'A UNIX socket outside the project that may be connected to.', setting: append('unix_sockets') },
    choice('git', 'git_access', ['none', 'read', 'commit', 'full'], "What may be done to the project's Git metadata.", ['allow_git_access']),
    { name: 'env', value: 'NAME[=VALUE]', repeats: true, text: 'Lets a variable in (a trailing * is any continuation), or sets it.', setting: { kind: 'environment' } },
    choice('temp', 'temp', ['shared', 'private'], 'The temporary directory of everybody, or one of its own.'),
    choice('nested-pty', 'nested_pty', ['shared', 'private', 'off'], 'Whether it can open terminals (tmux, script).'),
    { name: 'limit', value: 'NAME=N', repeats: true, text: 'processes, memory_bytes or cpu_percent (100 is one processor).', setting: { kind: 'limit' } },
    { name: 'wide-project', text: 'Permits a project that contains the home directory.', setting: constant('allow_wide_project', true) },
    { name: 'no-strict', text: 'Starts with what this machine can enforce, instead of not at all.', setting: constant('strict', false) },
    { name: 'fail-if-unavailable', text: 'Even with --no-strict: not without any sandbox.', setting: constant('fail_if_unavailable', true) },
    choice('backend', 'backend', ['auto', 'landlock', 'landlock-bwrap', 'seatbelt', 'noop'], 'What is to enforce it.'),
  ],
};

const sourceFlags: FlagGroup = {
  title: 'Where settings come from',
  flags: [
    { name: 'project', value: 'DIR', text: 'What the program may work on. Without it: the current directory.' },
    { name: 'settings', value: 'FILE', text: "Instead of the user's own settings file." },
    { name: 'no-settings', text: 'Reads no settings file at all.' },
    { name: 'trust-project', text: 'Lets .sandboxed-pty.json loosen settings, too.' },
    { name: 'kind', value: 'terminal|tool', text: 'Whose session it is; the setting apply_to says which of them are confined.' },
  ],
};

const runFlags: FlagGroup = {
  title: 'How it is run',
  flags: [
    { name: 'cwd', value: 'DIR', text: 'Where it starts. Without it: the current directory, if that is in the project.' },
    { name: 'timeout', value: 'TIME', text: 'Ends everything after 500ms, 90, 90s, 5m or 2h, first with SIGTERM; exit code 124.' },
    { name: 'tty', text: 'The program gets a terminal for its input and output even in a pipe.' },
    { name: 'report', text: 'Says on stderr, at the end, what was enforced, whatever happened.' },
    { name: 'quiet', text: 'Says nothing but errors.' },
  ],
};

const json: Flag = { name: 'json', text: 'For programs.' };

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly text: string;
  readonly groups: readonly FlagGroup[];
  /** Whether the first word that is no option begins a program's command line. */
  readonly runs?: true;
}

const output: FlagGroup = { title: 'Output', flags: [json] };

export const commands: readonly Command[] = [
  { name: 'run', usage: 'run [OPTIONS] [--] PROGRAM [ARGUMENTS]', text: 'Runs a program in a sandbox. Its exit code or signal becomes ours.', groups: [settingFlags, sourceFlags, runFlags], runs: true },
  { name: 'shell', usage: 'shell [OPTIONS]', text: 'Runs $SHELL, or sh, in the same way.', groups: [settingFlags, sourceFlags, runFlags] },
  { name: 'doctor', usage: 'doctor [--json]', text: 'What this machine can enforce, what not, why, and what to do. Exit code 1 if something is missing.', groups: [output] },
  { name: 'explain', usage: 'explain [OPTIONS] read|write|execute|connect PATH|HOST', text: 'Whether that would be allowed, and which setting says so. Exit code 1 if not.', groups: [settingFlags, sourceFlags, output] },
  { name: 'settings', usage: 'settings [OPTIONS]', text: 'What all settings together mean here.', groups: [settingFlags, sourceFlags, output] },
  { name: 'schema', usage: 'schema', text: 'The JSON schema of settings files.', groups: [] },
];

export function flagsOf(command: Command): Flag[] {
  return command.groups.flatMap((group) => group.flags);
}
