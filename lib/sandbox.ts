import * as fs from 'fs';
import * as os from 'os';

import { SandboxError } from './errors';
import { Environment, explain, Policy, resolvePolicy } from './policy';
import { makePrivateTemp } from './private-temps';
import { ResolvedSettings, resolveSettings, SettingsInput } from './settings';
import type { SandboxPermissions, SessionKind } from './settings-types';

/** What createSandboxedPty() needs to know besides node-pty's options. */
export interface SandboxOptions {
  /**
   * The sandbox settings: an object, the text of a settings.json, or what resolveSettings() returned (then the other
   * layers are in it already). Absent: the session is tracked, and nothing is restricted.
   */
  sandbox?: SettingsInput | ResolvedSettings | null;
  /** Settings that came with the repository. They can only tighten, unless `projectTrusted` is set. */
  projectSettings?: SettingsInput | null;
  projectTrusted?: boolean;
  /** What was approved for this session. */
  permissions?: string | SandboxPermissions | null;
  /** What the session may work on. Never taken from `cwd`, which a program may have chosen. */
  projectDir?: string;
  /** 'terminal' (default): the user's own. 'tool': a program's. */
  kind?: SessionKind;
  /** Added to the environment whatever the settings say. */
  extraEnv?: Environment;
  /** Further working trees whose Git metadata needs protection. */
  repositories?: string[];
  /** Default: this user's. */
  home?: string;
  /** Asks to run outside the sandbox; needs allow_unsandboxed in the settings. */
  unsandboxed?: boolean;
}

export interface SandboxRequest extends SandboxOptions {
  env?: Environment;
  cwd: string;
  term: string;
  uid?: number;
  gid?: number;
}

/** A policy and the directory that belongs to it, until a session takes them over. */
export class Sandbox {
  readonly policy: Policy;
  readonly tempDir: string | undefined;

  constructor(request: SandboxRequest) {
    const settings = toSettings(request);
    const kind = request.kind ?? 'terminal';
    this.tempDir = needsTempDir(settings, kind) ? makeTempDir(request) : undefined;
    try {
      this.policy = resolvePolicy({
        settings,
        kind,
        cwd: request.cwd,
        term: request.term,
        ...definedOnly(request, ['projectDir', 'home', 'env', 'extraEnv', 'repositories', 'unsandboxed']),
        ...(this.tempDir === undefined ? {} : { tempDir: this.tempDir }),
      });
    } catch (error) {
      this.removeTempDir();
      throw error;
    }
  }

  /** The session did not come to be. */
  abandon(): void {
    this.policy.dispose();
    this.removeTempDir();
  }

  /** The session runs: the kernel has the rules, the keeper the directory. */
  handOver(): void {
    this.policy.dispose();
  }

  /** Why a program that is there could not be executed, if the policy is to blame. */
  whyNotExecutable(program: string): string | undefined {
    const { allowed, text } = explain(this.policy, 'execute', program);
    return allowed ? undefined : text;
  }

  private removeTempDir(): void {
    if (this.tempDir !== undefined) fs.rmSync(this.tempDir, { recursive: true, force: true });
  }
}

function definedOnly<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<Pick<T, K>> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked;
}

function toSettings(request: SandboxRequest): ResolvedSettings {
  const { sandbox } = request;
  if (sandbox instanceof ResolvedSettings) return sandbox;
  return resolveSettings({
    user: sandbox ?? null,
    project: request.projectSettings ?? null,
    permissions: request.permissions ?? null,
    projectTrusted: request.projectTrusted === true,
    userPointer: typeof sandbox === 'string' ? '' : '/sandbox',
  });
}

function needsTempDir(settings: ResolvedSettings, kind: SessionKind): boolean {
  const { enabled, temp } = settings.effective(kind);
  return enabled && temp === 'private';
}

function makeTempDir({ uid, gid }: SandboxRequest): string {
  const parent = os.tmpdir();
  try {
    const directory = makePrivateTemp(fs.realpathSync(parent));
    if (uid !== undefined && gid !== undefined) fs.chownSync(directory, uid, gid);
    return directory;
  } catch (error) {
    const { code = 'EIO', errno = -5, message } = error as NodeJS.ErrnoException;
    throw new SandboxError(
      `cannot start the session: no private temporary directory could be made in ${parent} (${message}). ` +
        'Make room there, set TMPDIR, or set "temp" to "shared".',
      { code, stage: 'temp', errno, path: parent },
    );
  }
}
