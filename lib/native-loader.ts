import * as path from 'path';

import { addonName, addonOf, Candidate, candidates, damageOf, keeperOf, keeperProblem } from './binaries';
import { SandboxError } from './errors';
import { hasNativePart, unsupported } from './platform';
import type { NativeHandle, NativeSettings } from './settings-native';

/** Everything the addon exports; the one place that says so. */
export interface Native extends NativeSettings {
  NativeSession: new (request: NativeRequest, handlers: NativeHandlers) => NativeSession;
  /** Started ahead of the plan; `tempPrefix` + some letters becomes a private directory, unless it is ''. */
  startKeeper(path: string, tempPrefix: string): { handle: NativeHandle; tempDir: string };
  /** Ends it, unless a session has taken it over. */
  releaseKeeper(keeper: NativeHandle): void;
  /** A directory of this user's with all that is in it, on another thread; the callback gets an errno, '0' if it is gone. */
  removeOwnTree(path: string): number;
  removeOwnTreeInBackground(path: string, callback: (errno: string) => void): void;
  openPty(options: { cols: number; rows: number; utf8: boolean }): { master: number; slave: number; name: string };
  /** 0 or an errno. */
  resizePty(fd: number, cols: number, rows: number): number;
  /** Puts this process's own terminal into raw mode; the answer is for restoreLine(). */
  makeRaw(fd: number): Buffer;
  /** 0 or an errno. */
  restoreLine(fd: number, line: Buffer): number;
  /** Whether this process may use its own terminal. */
  inForeground(fd: number): boolean;
  /** By a session's master: the key that suspends, and the group that keys are for; -1 each if there is none. */
  readKeySignals(master: number): { suspend: number; foreground: number };
  /** Ends this process by a signal's default action. Returns only if that ends nobody. */
  endBySignal(signal: number): void;
}

export interface NativeRequest {
  file: string;
  args: string[];
  /** Entries, each with a NUL byte behind it. */
  env: string;
  cwd: string;
  cols: number;
  rows: number;
  utf8: boolean;
  uid?: number;
  gid?: number;
  keeperPath: string;
  /** Instead of a new one. */
  keeper?: NativeHandle;
  /**
   * True: what cannot be executed is thrown, and the call returns when the program runs, or when it is certain that it
   * will. False: the call waits for nothing, and a failure shows up as a line of output and an exit.
   */
  waitForExec: boolean;
  keepAliveAfterExit?: boolean;
  /** -1: the terminal. */
  stdio?: readonly number[];
  useCgroup?: boolean;
  /** Brings its own environment. */
  policy?: NativeHandle;
  /** Removed when the session is over. */
  tempDir?: string;
  featureLimits?: { landlockAbi?: number; seccomp?: boolean; notify?: boolean };
}

export interface NativeHandlers {
  /** A string only if `text` is set and the chunk is pure ASCII. */
  onData(chunk: string | Buffer): void;
  /** Everything written so far is with the kernel, or little of it is left: see queuedInput. */
  onDrain(): void;
  onExit(code: number, signal: number, keeperLost: boolean): void;
  /** There is more to deliver; call deliver() in a later turn. */
  onMore(): void;
  /** How often each limit was hit since the last call. */
  onLimit(processes: number, memory: number): void;
  onTracking(): void;
  text: boolean;
}

export interface NativeSession {
  readonly pid: number;
  readonly fd: number;
  readonly slaveName: string;
  /** JSON; see enforcement.ts. */
  readonly enforcement: string;
  /** JSON: {mechanisms, noCgroup}. Waits for the keeper's answer. */
  readonly tracking: string;
  /** Whether that is known. If not, onTracking tells, once it is, that it is weak; if it is strong nobody is told. */
  readonly trackingKnown: boolean;
  /** Bytes that the kernel has not taken yet. */
  readonly queuedInput: number;
  /** Returns queuedInput. */
  write(data: string | Uint8Array): number;
  /** 0 or an errno. */
  resize(cols: number, rows: number, xPixels: number, yPixels: number): number;
  kill(signal: number): boolean;
  foregroundProgram(): string;
  /** From here on the end is told, and output as far as it is not paused. */
  begin(): void;
  pause(): void;
  resume(): void;
  hangUp(): void;
  deliver(): void;
  /** Calls back with a report (JSON; see disposal.ts). False: nothing is left, and nobody is called. */
  dispose(options: { signal: number; graceMs: number; deadlineMs: number }, done: (report: string) => void): boolean;
  /** JSON; see disposal.ts. */
  listProcesses(): string;
  /** Closes what is kept open for the next list. */
  forgetProcesses(): void;
  ref(): void;
  unref(): void;
}

export { unpackedPath } from './binaries';

const root = path.join(__dirname, '..');

/** A sentence for a failure to load that says more than the dynamic loader does. */
function explainLoad(message: string): string {
  if (/GLIBC_[\d.]+' not found/.test(message)) {
    return `${message}. The C library here is older than glibc 2.28: build from source ('npm rebuild sandboxed-pty').`;
  }
  if (/wrong ELF class|invalid ELF header|Exec format error|incompatible architecture|file too short/.test(message)) {
    return `${message}. The file is damaged or for another processor: reinstall the package on this machine.`;
  }
  return message;
}

function noBinary(causes: string[]): SandboxError {
  return new SandboxError(
    `sandboxed-pty has no binary that works on ${process.platform}-${process.arch} (Node.js ${process.versions.node}):\n` +
      causes.map((cause) => `  - ${cause}\n`).join('') +
      "It comes with the package, or is built when that is installed; if install scripts were skipped, run 'npm rebuild " +
      "sandboxed-pty'. In an Electron app, list the package under 'asarUnpack'.",
    { code: 'ENOENT', stage: 'keeper', errno: -2, path: addonName },
  );
}

interface Loaded {
  native: Native;
  what: Candidate['what'];
  directory: string;
}

/** The first folder that has all it needs; else the first whose addon loads, so that the missing keeper is named. */
function findAndLoad(): Loaded {
  if (!hasNativePart()) throw unsupported();
  const causes: string[] = [];
  let second: Loaded | undefined;
  for (const { what, directory } of candidates(root)) {
    const addon = addonOf(directory);
    if (addon === undefined) {
      causes.push(`no ${what} ${addonName} in ${directory}`);
      continue;
    }
    try {
      const found = { native: require(addon) as Native, what, directory };
      if (keeperProblem(directory) === undefined) return found;
      second ??= found;
    } catch (error) {
      causes.push(`the ${what} ${addon} does not load: ${explainLoad((error as Error).message)}`);
    }
  }
  if (second) return second;
  throw noBinary(causes);
}

let loaded: Loaded | undefined;

function load(): Loaded {
  return (loaded ??= findAndLoad());
}

export function loadNative(): Native {
  return load().native;
}

let keeper: string | undefined;

/** The keeper program beside the addon. Checked once, with an error that says what is wrong with it. */
export function keeperPath(): string {
  if (keeper !== undefined) return keeper;
  const { directory } = load();
  const problem = keeperProblem(directory);
  if (problem) {
    throw new SandboxError(
      `the helper program ${problem.path} ${problem.reason}. Reinstall sandboxed-pty; in an Electron app, list it under ` +
        "'asarUnpack', so that it is a real file.",
      { code: problem.code, stage: 'keeper', errno: problem.errno, path: problem.path },
    );
  }
  return (keeper = keeperOf(directory));
}

/** How the binaries differ from those that were packed; undefined if they do not, or were built on this machine. */
export function binaryDamage(): string | undefined {
  const { what, directory } = load();
  return what === 'prebuilt' ? damageOf(directory) : undefined;
}
