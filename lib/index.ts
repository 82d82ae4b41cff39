import { checkFlag } from './check-arguments';
import { SandboxError } from './errors';
import type { OpenOptions, OpenTerminal } from './open-terminal';
import { resolveOptions, resolveStdio, SpawnOptions } from './options';
import { hasNativePart } from './platform';
import { checkSandboxOptions, Sandbox, SandboxOptions } from './sandbox';
import { ExitEvent, Terminal } from './terminal';

export type { ExitEvent, OpenOptions, OpenTerminal, SpawnOptions };
export type { SandboxOptions };
export type { DisposeOptions, DisposeReport, ProcessInfo, Tracking } from './disposal';
export type { Enforcement, ProtectionReport } from './enforcement';
export type { Disposable, Event } from './event';
export type { Violation, Warning } from './notices';
export type * from './node-pty-types';
export { SandboxError };
export { checkSettings, ResolvedSettings, resolveSettings } from './settings';
export type { SettingsInput, SettingsLayers } from './settings';
export { SettingsError } from './settings-error';
export type { Problem } from './settings-error';
export type * from './settings-types';
export { explain, Policy, resolvePolicy } from './policy';
export type {
  Access,
  Environment,
  Explanation,
  GitRepository,
  Grant,
  Hole,
  PolicyDescription,
  PolicyInput,
  Protection,
  Rights,
  SkippedPath,
  Suggestion,
} from './policy';

// Loaded when they are needed: requiring the package is something that every start of an editor waits for.
const nodePtySession = (): typeof import('./node-pty-session') =>
  require('./node-pty-session') as typeof import('./node-pty-session');

/** A terminal whose session ends with it. Has everything that node-pty's IPty has. */
export type SandboxedPty = Terminal;

export interface SandboxedPtyOptions extends SpawnOptions, SandboxOptions {
  /** The program: a path, or a name to look up in the session's PATH. Default: $SHELL, else sh. */
  file?: string;
  args?: string[];
  /** What the shell leaves running stays when it ends, until dispose() or the end of this process. */
  keepAliveAfterExit?: boolean;
  /**
   * What the program gets as descriptors 0, 1 and 2 instead of the terminal, which stays its controlling one; null: the
   * terminal. A pipe, a file, a device that is no terminal, or one end of a UNIX stream connection. They are duplicated.
   */
  stdio?: readonly [number | null, number | null, number | null];
}

/**
 * Starts a program in a terminal of its own, confined as `sandbox` says. Throws a SandboxError at once if the program or
 * the directory cannot be used, or if what was asked for cannot be enforced; then nothing has been started. It waits until the
 * program runs, unless it is as good as certain that it will. What even then goes wrong (memory that runs out, a program that
 * is exchanged in this very moment) is a line of output and exit code 1, and nothing runs.
 */
export function createSandboxedPty(options: SandboxedPtyOptions = {}): SandboxedPty {
  checkSandboxOptions(options);
  checkFlag('keepAliveAfterExit', options.keepAliveAfterExit);
  // node-pty ignores one without the other; here that would be a session of the wrong user.
  const given = (id: number | undefined): boolean => (id ?? -1) !== -1;
  if (given(options.uid) !== given(options.gid)) throw new TypeError('uid and gid must be given together');
  if (!hasNativePart()) return nodePtySession().createOnNodePty(options);
  const env = options.env || process.env;
  const file = options.file || env['SHELL'];
  const extra = {
    keepAliveAfterExit: options.keepAliveAfterExit === true,
    ...(options.stdio && { stdio: resolveStdio(options.stdio) }),
  };
  const cwd = options.cwd || options.projectDir || process.cwd();
  // Not "falsy": an empty text is a mistake in the settings, and must not mean "no sandbox".
  if (options.sandbox === undefined || options.sandbox === null) {
    return new Terminal(Object.assign(resolveOptions(file, options.args, options, cwd), extra), true);
  }
  // The policy builds the environment, from the one that was given.
  const resolved = Object.assign(resolveOptions(file, options.args, options, cwd, true), extra);
  const term = options.name || env['TERM'] || 'xterm';
  return new Terminal(resolved, true, new Sandbox(options, resolved.cwd, term));
}

/** They would be ignored, and somebody would believe that the session is confined. */
function refuseSandboxOptions(options: SpawnOptions & Partial<SandboxOptions>): void {
  for (const name of ['sandbox', 'projectSettings', 'permissions'] as const) {
    if ((options[name] ?? undefined) === undefined) continue;
    throw new TypeError(
      `spawn() is node-pty's and confines nothing: '${name}' belongs to createSandboxedPty({file, args, ...})`,
    );
  }
}

/**
 * node-pty's spawn, with its defaults and its way of telling that a program is missing: a line of output and exit
 * code 1.
 */
export function spawn(file?: string, args?: string[] | string, options: SpawnOptions = {}): SandboxedPty {
  const given = options ?? {};
  refuseSandboxOptions(given);
  if (!hasNativePart()) return nodePtySession().spawnOnNodePty(file, args, given);
  const resolved = resolveOptions(file, args, given);
  given.env ||= process.env;
  return new Terminal(resolved, false);
}

/** node-pty's older name of spawn. */
export function fork(file?: string, args?: string[] | string, options?: SpawnOptions): SandboxedPty {
  return spawn(file, args, options);
}

/** node-pty's oldest name of spawn. */
export function createTerminal(file?: string, args?: string[] | string, options?: SpawnOptions): SandboxedPty {
  return spawn(file, args, options);
}

/** A pair of terminal ends without a process. */
export function open(options?: OpenOptions): OpenTerminal {
  const { OpenTerminal: Constructor } = require('./open-terminal') as typeof import('./open-terminal');
  return new Constructor(options);
}
