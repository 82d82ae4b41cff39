/** What the native side throws: an Error with the properties of Node's own system errors, and a stage. */
export interface NativeFailure extends Error {
  code: string;
  errno: number;
  stage: string;
  path?: string;
}

/** A session that could not be started, or an operation on it that failed. Nothing is left behind. */
export class SandboxError extends Error {
  /** 'ENOENT', 'EACCES', ... */
  readonly code: string;
  /** The step that failed: 'pty', 'keeper', 'cwd', 'uid', 'exec', ... */
  readonly stage: string;
  /** The negative system error number, as in Node's system errors. */
  readonly errno: number;
  /** What the step was about: a program, a directory. */
  readonly path?: string;

  constructor(message: string, details: { code: string; stage: string; errno: number; path?: string }) {
    super(message);
    this.name = 'SandboxError';
    this.code = details.code;
    this.stage = details.stage;
    this.errno = details.errno;
    if (details.path !== undefined) this.path = details.path;
  }
}

/** Errors that say more about the machine than about the step that met them. */
const shortages: Record<string, string> = {
  EMFILE: 'this process has no file descriptor left. Close some, or raise its limit (ulimit -n).',
  ENFILE: 'the system has no file descriptor left.',
  EAGAIN: 'no process or thread could be created. The limit of processes may have been reached.',
  ENOMEM: 'there is not enough memory.',
  E2BIG: 'arguments and environment together are too long.',
};

const advice: Record<string, (path: string, code: string) => string> = {
  exec: (path, code) =>
    code === 'ENOENT'
      ? `there is no program '${path}'. A name without a slash is looked up in the PATH of the session's environment.`
      : `'${path}' cannot be executed. Is it an executable file that this user may run?`,
  cwd: (path) => `'${path}' cannot be entered. Does the directory exist, and may this user search it?`,
  keeper: (path) => `the helper program failed (${path}). It is installed beside the addon; reinstalling restores it.`,
  groups: () => 'the supplementary groups cannot be set. Only root can start a session as another user.',
  gid: () => 'the group cannot be changed. Only root can start a session as another user.',
  uid: () => 'the user cannot be changed. Only root can start a session as another user.',
  stdio: (path, code) =>
    code === 'EINVAL'
      ? `${path} cannot take the terminal's place. Pipes, files and devices can.`
      : `the descriptors 0, 1 and 2 could not be set up (${path}).`,
  pty: (path) => `no pseudo-terminal could be opened (${path}).`,
  confinement: (path, code) =>
    code === 'ESTALE'
      ? `'${path}' was exchanged for something else while the session was being started. Try again.`
      : code === 'ENOTSUP'
        ? `what the settings ask for cannot be enforced here. ${path}. With "strict": false it starts all the same.`
        : `the sandbox could not be set up (${path}).`,
};

export function isNativeFailure(error: unknown): error is NativeFailure {
  // Not `instanceof`: the error may come from another realm (vm contexts, test runners).
  return typeof (error as Partial<NativeFailure> | undefined)?.stage === 'string';
}

/** The same failure with a sentence that a person can act on. */
export function toSandboxError(failure: NativeFailure, reason?: string): SandboxError {
  const explain = advice[failure.stage];
  // Of programs only: a sandbox can be too large in other ways, and says in which.
  const shortage = failure.stage === 'confinement' && failure.code === 'E2BIG' ? undefined : shortages[failure.code];
  const text = reason ?? shortage ?? explain?.(failure.path ?? '', failure.code) ?? failure.message;
  return new SandboxError(`cannot start the session: ${text} (${failure.code} at ${failure.stage})`, failure);
}
