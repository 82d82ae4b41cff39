import * as os from 'os';

import { checkEnvironment, checkFlag, checkKind, checkText, checkTexts } from './check-arguments';
import { hostTerminalVariables } from './options';
import { throwProblems } from './settings-error';
import { NativeHandle, nativeSettings } from './settings-native';
import { ResolvedSettings } from './settings';
import type { GitAccess, Origin, SessionKind } from './settings-types';

export type Rights = 'read' | 'read+execute' | 'read+write';
export type Access = 'read' | 'write' | 'execute' | 'connect';

export interface Grant {
  /** Canonical: everything at and below it. */
  path: string;
  rights: Rights;
  kind: 'project' | 'system' | 'additional' | 'dotfile' | 'device' | 'git' | 'temp' | 'builtin' | 'everything';
  by: Origin;
}

export interface Hole {
  path: string;
  denies: 'read+write' | 'write';
  kind: 'credential' | 'git' | 'device';
  exists: boolean;
  /** Whether a wider grant would allow reading, or writing, there. */
  cutsRead: boolean;
  cutsWrite: boolean;
  by: Origin;
}

export interface SkippedPath {
  /** As in the settings. */
  text: string;
  path: string;
  reason: 'missing' | 'unset-variable' | 'inside-hole' | 'not-verified' | 'writable-link' | 'no-socket';
  message: string;
  by: Origin;
}

export interface GitRepository {
  kind: 'absent' | 'main' | 'linked-worktree' | 'submodule';
  worktree: string;
  gitDir: string;
  commonDir: string;
  /** Whether the metadata points back to the working tree; what does not is never granted. */
  verified: boolean;
}

export type Protection =
  | 'files'
  | 'read-holes'
  | 'write-holes'
  | 'private-temp'
  | 'private-pty'
  | 'unix-sockets'
  | 'outsiders'
  | 'network'
  | 'syscalls'
  | 'privileges'
  | 'descriptors'
  | 'environment'
  | 'limits';

/** Everything a policy says. */
export interface PolicyDescription {
  /** False: the session is tracked, and nothing is restricted. */
  confined: boolean;
  /** What decided that. */
  by: Origin;
  kind: SessionKind;
  project: string;
  gitAccess: GitAccess;
  temp: 'shared' | 'private';
  nestedPty: 'shared' | 'private' | 'off';
  backend: 'auto' | 'seatbelt' | 'landlock' | 'landlock-bwrap' | 'noop';
  strict: boolean;
  failIfUnavailable: boolean;
  grants: Grant[];
  holes: Hole[];
  unixSockets: { path: string; exists: boolean; by: Origin }[];
  network: { mode: 'none' | 'filtered' | 'all'; allHosts: boolean; hosts: string[]; denied: string[]; by: Origin };
  repositories: GitRepository[];
  skipped: SkippedPath[];
  limits: { processes?: number; memoryBytes?: number; cpuPercent?: number };
  /** What has to be enforced; with `strict` the session does not start without. */
  required: Protection[];
  /** The names of the variables the session gets. */
  environment: string[];
}

/** Values may be bytes: not every environment is UTF-8. */
export type Environment = Record<string, string | Uint8Array | undefined>;

export interface PolicyInput {
  settings: ResolvedSettings;
  /** Default: 'terminal'. */
  kind?: SessionKind | undefined;
  /** Never taken from `cwd`, which a program may have chosen. */
  projectDir?: string | undefined;
  /** Default: the project. */
  cwd?: string | undefined;
  /** Default: this user's. */
  home?: string | undefined;
  /**
   * What to filter. Default: this process's environment, byte for byte, without what the terminal that it runs in has
   * left there (TMUX, COLUMNS and the like).
   */
  env?: Environment | undefined;
  /** What the editor always adds. */
  extraEnv?: Environment | undefined;
  /** $TERM. */
  term?: string | undefined;
  /** The session's private temporary directory, if it exists already. */
  tempDir?: string | undefined;
  /** Further working trees whose Git metadata needs protection. */
  repositories?: string[] | undefined;
  /** Asks to run outside the sandbox; needs allow_unsandboxed. */
  unsandboxed?: boolean | undefined;
}

/**
 * What one session may do. Immutable. Holds its paths open, so that nobody can exchange them: dispose of it when it is
 * no longer needed, or some dozens of descriptors stay open until it is collected.
 */
export class Policy {
  readonly #handle: NativeHandle;
  #description?: PolicyDescription;
  #disposed = false;

  /** @internal */
  constructor(handle: NativeHandle) {
    this.#handle = handle;
    Object.freeze(this);
  }

  describe(): PolicyDescription {
    return (this.#description ??= JSON.parse(nativeSettings().describePolicy(this.#handle)) as PolicyDescription);
  }

  /** 'NAME=value' as bytes, in order. */
  environment(): Buffer[] {
    return nativeSettings().policyEnvironment(this.#handle);
  }

  /** Closes its descriptors. What describe() has returned stays; a session that was started with it is not affected. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    nativeSettings().releasePolicy(this.#handle);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  toJSON(): PolicyDescription {
    return this.describe();
  }

  /** @internal */
  static handleOf(policy: Policy): NativeHandle {
    return policy.#handle;
  }
}

function checkInput(input: PolicyInput): void {
  if (!(input.settings instanceof ResolvedSettings)) {
    throw new TypeError('settings must come from resolveSettings()');
  }
  checkKind(input.kind);
  for (const name of ['projectDir', 'cwd', 'home', 'term', 'tempDir'] as const) checkText(name, input[name]);
  checkTexts('repositories', input.repositories);
  checkFlag('unsandboxed', input.unsandboxed);
  checkEnvironment('extraEnv', input.extraEnv);
}

/** What the addon is to filter; undefined: the host's, which it reads itself, as process.env shows only what is UTF-8. */
function environmentOf(env: Environment | undefined): (string | Uint8Array)[] | undefined {
  if (env !== undefined && env !== process.env) {
    checkEnvironment('env', env);
    return toPairs(env);
  }
  // Loaded here: requiring the package should not pay for it.
  const { isMainThread } = require('worker_threads') as typeof import('worker_threads');
  if (isMainThread) return undefined;
  // A worker has an environment of its own, which may lack what this process has.
  return toPairs(Object.fromEntries(Object.entries(process.env).filter(([name]) => !hostTerminalVariables.has(name))));
}

function toPairs(env: Environment): (string | Uint8Array)[] {
  const pairs: (string | Uint8Array)[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    pairs.push(name, typeof value === 'string' ? value : Buffer.from(value));
  }
  return pairs;
}

/** Looks up every path. Throws a SettingsError (ERR_POLICY) if something does not fit this project or machine. */
export function resolvePolicy(input: PolicyInput): Policy {
  checkInput(input);
  const env = environmentOf(input.env);
  const result = nativeSettings().resolvePolicy({
    settings: ResolvedSettings.handleOf(input.settings),
    kind: input.kind ?? 'terminal',
    projectDir: input.projectDir ?? '',
    cwd: input.cwd ?? input.projectDir ?? '',
    home: input.home ?? os.homedir(),
    term: input.term ?? '',
    tempDir: input.tempDir ?? '',
    repositories: input.repositories ?? [],
    unsandboxed: input.unsandboxed === true,
    env,
    hostEnvWithout: env ? undefined : [...hostTerminalVariables],
    extraEnv: input.extraEnv && toPairs(input.extraEnv),
  });
  throwProblems(result);
  return new Policy(result.handle);
}

/** The smallest change of the settings that would allow it. */
export interface Suggestion {
  /** One sentence. */
  text: string;
  /** Where to write in the sandbox settings; '/-' at the end: append. Absent if no change of settings helps. */
  pointer?: string;
  value?: string;
  /** Why it should not be granted lightly. */
  caution?: string;
}

export interface Explanation {
  access: Access;
  target: string;
  /** The canonical path, or the host in its normal form. */
  resolved: string;
  allowed: boolean;
  /** The setting that decided; layer 'default' is its built-in value. */
  by: Origin;
  reason: string;
  suggestion?: Suggestion;
  /** All of it in a few lines for people. */
  text: string;
}

/** For 'connect' the target is a host, 'host:port', or the path of a UNIX socket; else a path. */
export function explain(policy: Policy, access: Access, target: string): Explanation {
  if (!(policy instanceof Policy)) throw new TypeError('policy must come from resolvePolicy()');
  return JSON.parse(nativeSettings().explain(Policy.handleOf(policy), access, target)) as Explanation;
}
