/**
 * The settings as they stand in a settings.json. `null` or absent means the default; an explicit list replaces it.
 * schema/settings.schema.json says the same for editors, and native/settings enforces it.
 */

export type Platform = 'linux' | 'macos' | 'windows';
export type SessionKind = 'terminal' | 'tool';
export type Profile = 'terminal' | 'agent' | 'workspace' | 'read-only' | 'network-allow-all' | 'off';
export type GitAccess = 'none' | 'read' | 'commit' | 'full';

export interface SystemPaths {
  /** Readable and executable: programs, libraries. */
  executable?: string[] | null;
  /** Readable: configuration, data, certificates. */
  read_only?: string[] | null;
  /** Readable and writable: temporary files, devices. '/dev' means the basic devices, not every node. */
  read_write?: string[] | null;
}

export interface Limits {
  /** Processes at one time. */
  processes?: number | null;
  memory_bytes?: number | null;
  /** 100 is one processor. */
  cpu_percent?: number | null;
}

interface CommonSettings {
  /** Whether sessions are confined. Tracking is always on. Default: false. */
  enabled?: boolean | null;
  /** Which kind of session is confined. Default: 'both'. */
  apply_to?: 'terminal' | 'tool' | 'both' | 'neither' | null;
  /** The bundle of defaults. Default: 'terminal'. */
  profile?: Profile | null;
  system_paths?: SystemPaths | null;
  /** Further programs and toolchains, readable and executable. */
  additional_executable_paths?: string[] | null;
  /** Everything that is listed, or everything but `denied_read_paths`. Default: by profile. */
  read_access?: 'listed' | 'all' | null;
  /** Credentials, cut out of any wider grant. A grant of the very path wins. */
  denied_read_paths?: string[] | null;
  /** Default: by profile. */
  allow_network?: boolean | null;
  /** 'example.org', '*.example.org', either with ':port'. Only these, unless `allow_network` is true. */
  network_hosts?: string[] | null;
  allow_all_hosts?: boolean | null;
  /** As `network_hosts`; wins over it. */
  denied_domains?: string[] | null;
  /** UNIX sockets outside the project that may be connected to. */
  unix_sockets?: string[] | null;
  /** Default: by profile. */
  temp?: 'shared' | 'private' | null;
  /** Terminals inside the terminal (tmux, script). Default: by profile. */
  nested_pty?: 'shared' | 'private' | 'off' | null;
  /** Names; a trailing '*' stands for any continuation. */
  allowed_env_vars?: string[] | null;
  allow_fs_write_all?: boolean | null;
  allow_unsandboxed?: boolean | null;
  /** Permits a project that contains the home directory. */
  allow_wide_project?: boolean | null;
  /** Fail if something that was asked for cannot be enforced. Default: true. */
  strict?: boolean | null;
  /** Fail if there is no sandbox at all. Default: false. */
  fail_if_unavailable?: boolean | null;
  backend?: 'auto' | 'seatbelt' | 'landlock' | 'landlock-bwrap' | 'noop' | null;
  limits?: Limits | null;
}

/** Two names of one setting: at most one of them. */
type ReadPaths =
  | { additional_read_only_paths?: string[] | null; allow_read?: never }
  | { additional_read_only_paths?: never; allow_read: string[] | null };
type WritePaths =
  | { additional_read_write_paths?: string[] | null; allow_write?: never; write_paths?: never }
  | { additional_read_write_paths?: never; allow_write: string[] | null; write_paths?: never }
  | { additional_read_write_paths?: never; allow_write?: never; write_paths: string[] | null };
type Git =
  | { git_access?: GitAccess | null; allow_git_access?: never }
  | { git_access?: never; allow_git_access: boolean | null };

/** One layer of settings. */
export type SandboxSettings = CommonSettings & ReadPaths & WritePaths & Git;

/** Settings with blocks that hold on one platform only. */
export type SandboxDocument = SandboxSettings & { [platform in Platform]?: SandboxSettings | null };

/** What a person approved. Approvals only ever add. */
export interface SandboxPermissions {
  network_hosts?: string[] | null;
  allow_all_hosts?: boolean | null;
  allow_git_access?: boolean | null;
  /** Absolute, or starting with ~/ or a variable. */
  write_paths?: string[] | null;
  allow_fs_write_all?: boolean | null;
  allow_unsandboxed?: boolean | null;
}

interface EditorSections {
  terminal?: { sandbox?: SandboxSettings | null; [other: string]: unknown } | null;
  agent?: { sandbox_permissions?: SandboxPermissions | null; [other: string]: unknown } | null;
  'terminal.sandbox'?: SandboxSettings | null;
  'agent.sandbox_permissions'?: SandboxPermissions | null;
  [other: string]: unknown;
}

/** A whole settings.json of an editor. What is not ours is not looked at. */
export type EditorDocument = EditorSections & { [platform in Platform]?: EditorSections | null };

/** Which layer a value came from; in the order in which they override each other. */
export type Layer = 'default' | 'user' | 'user-platform' | 'project' | 'permissions' | 'caller';

/** Where a value came from. The pointer (RFC 6901) is relative to the document as it was handed over. */
export interface Origin {
  layer: Layer;
  pointer: string;
}

/** Something an untrusted project asked for and did not get. */
export interface Refusal extends Origin {
  message: string;
}

type Complete<T> = { [K in keyof T]-?: NonNullable<T[K]> };

/** The settings in force: no gaps. `allow_network` says whether every host may be reached. */
export type EffectiveSettings = Complete<Omit<CommonSettings, 'system_paths' | 'limits' | 'allow_all_hosts'>> & {
  system_paths: Complete<SystemPaths>;
  additional_read_only_paths: string[];
  additional_read_write_paths: string[];
  git_access: GitAccess;
  limits: { processes?: number; memory_bytes?: number; cpu_percent?: number };
};
