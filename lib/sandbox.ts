import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

import { checkEnvironment, checkFlag, checkKind, checkText, checkTexts, refuseBoth } from './check-arguments';
import { isNativeFailure, SandboxError, toSandboxError } from './errors';
import { keeperPath, loadNative } from './native-loader';
import { Environment, explain, Policy, resolvePolicy } from './policy';
import { privateTempPrefix, removeTree } from './private-temps';
import { findDeniedInterpreter } from './program-interpreters';
import { ResolvedSettings, resolveSettings, SettingsInput } from './settings';
import type { NativeHandle } from './settings-native';
import type { SandboxPermissions, SessionKind } from './settings-types';

// That of now: a program's tests may replace the global one.
const { setImmediate } = globalThis;

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

/** With what of node-pty's options matters here. */
export interface SandboxRequest extends SandboxOptions {
  env?: Environment;
  uid?: number;
  gid?: number;
}

/**
 * Throws a TypeError for options of the wrong type, and for such that would be ignored. Without settings, too: a mistake
 * should not wait until the sandbox is switched on.
 */
export function checkSandboxOptions(options: SandboxOptions): void {
  // createSandboxedPty('bash') would start a shell without any of what its caller had in mind.
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError('createSandboxedPty() takes one object: {file, args, projectDir, sandbox, ...}');
  }
  checkKind(options.kind);
  checkText('projectDir', options.projectDir);
  checkText('home', options.home);
  checkFlag('projectTrusted', options.projectTrusted);
  checkFlag('unsandboxed', options.unsandboxed);
  checkTexts('repositories', options.repositories);
  checkEnvironment('extraEnv', options.extraEnv);
  if (!(options.sandbox instanceof ResolvedSettings)) return;
  for (const name of ['projectSettings', 'permissions', 'projectTrusted'] as const) {
    if ((options[name] ?? undefined) === undefined) continue;
    refuseBoth(`${name} has no effect on what resolveSettings() returned: hand it to resolveSettings() instead`);
  }
}

/** A keeper, a policy and the directory that belongs to it, until a session takes them over. */
export class Sandbox {
  readonly keeper: NativeHandle;
  readonly policy: Policy;
  readonly tempDir: string | undefined;

  constructor(request: SandboxRequest, cwd: string, term: string) {
    const settings = toSettings(request);
    const kind = request.kind ?? 'terminal';
    // First of all: it gets ready while the policy is resolved, and knows of the directory before that is made.
    const { handle, tempDir } = startKeeper(needsTempDir(settings, kind));
    this.keeper = handle;
    this.tempDir = tempDir === '' ? undefined : tempDir;
    try {
      if (this.tempDir !== undefined && request.uid !== undefined && request.gid !== undefined) {
        fs.lchownSync(this.tempDir, request.uid, request.gid);
      }
      this.policy = resolvePolicy({
        settings,
        kind,
        cwd,
        term,
        tempDir: this.tempDir,
        projectDir: request.projectDir,
        home: request.home,
        env: request.env,
        extraEnv: request.extraEnv,
        repositories: request.repositories,
        unsandboxed: request.unsandboxed,
      });
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** The session did not come to be. */
  abandon(): void {
    this.policy.dispose();
    this.release();
  }

  /** The session runs: the kernel has the rules, the keeper the directory. */
  handOver(): void {
    disposeHandedOver();
    handedOver = this.policy;
    setImmediate(disposeHandedOver);
  }

  /** Why a program that is there could not be executed, if the policy is to blame. */
  whyNotExecutable(program: string): string | undefined {
    // A relative one is looked for where the session starts, which is not here.
    const here = path.isAbsolute(program);
    if (here && !isExecutable(program)) return undefined;
    const { allowed, text } = explain(this.policy, 'execute', program);
    if (!allowed) return text;
    if (!here) return undefined;
    const denied = findDeniedInterpreter(program, (file) => explain(this.policy, 'execute', file).allowed);
    if (denied === undefined) return undefined;
    return `'${program}' may be executed, but it needs another program that may not. ${explain(this.policy, 'execute', denied).text}`;
  }

  private release(): void {
    loadNative().releaseKeeper(this.keeper);
    // The keeper has removed it, unless somebody killed it.
    if (this.tempDir !== undefined) removeTree(this.tempDir);
  }
}

/** The policy of the last session. Some dozens of descriptors are closed once the caller has its terminal; never those of two. */
let handedOver: Policy | undefined;

function disposeHandedOver(): void {
  handedOver?.dispose();
  handedOver = undefined;
}

/** By its mode: the policy is not to blame for that. */
function isExecutable(program: string): boolean {
  try {
    fs.accessSync(program, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
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

function startKeeper(withTempDir: boolean): { handle: NativeHandle; tempDir: string } {
  try {
    const prefix = withTempDir ? privateTempPrefix(fs.realpathSync(os.tmpdir())) : '';
    return loadNative().startKeeper(keeperPath(), prefix);
  } catch (error) {
    if (isNativeFailure(error) && error.stage !== 'temp') throw toSandboxError(error);
    if (error instanceof SandboxError) throw error;
    const { code = 'EIO', errno = -5, message } = error as NodeJS.ErrnoException;
    const parent = os.tmpdir();
    throw new SandboxError(
      `cannot start the session: no private temporary directory could be made in ${parent} (${message}). ` +
        'Make room there, set TMPDIR, or set "temp" to "shared".',
      { code, stage: 'temp', errno, path: parent },
    );
  }
}
