import * as fs from 'fs';
import * as path from 'path';

import { SandboxError } from './errors';
import type { NativeHandle, NativeSettings } from './settings-native';

/** Everything the addon exports; the one place that says so. */
export interface Native extends NativeSettings {
  NativeSession: new (request: NativeRequest, handlers: NativeHandlers) => NativeSession;
  /** Started ahead of the plan; `tempPrefix` + some letters becomes a private directory, unless it is ''. */
  startKeeper(path: string, tempPrefix: string): { handle: NativeHandle; tempDir: string };
  /** Ends it, unless a session has taken it over. */
  releaseKeeper(keeper: NativeHandle): void;
  openPty(options: { cols: number; rows: number; utf8: boolean }): { master: number; slave: number; name: string };
  /** 0 or an errno. */
  resizePty(fd: number, cols: number, rows: number): number;
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
  waitForExec: boolean;
  keepAliveAfterExit?: boolean;
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
  onExit(code: number, signal: number): void;
  /** There is more to deliver; call deliver() in a later turn. */
  onMore(): void;
  /** How often each limit was hit since the last call. */
  onLimit(processes: number, memory: number): void;
  text: boolean;
}

export interface NativeSession {
  readonly pid: number;
  readonly fd: number;
  readonly slaveName: string;
  /** JSON; see enforcement.ts. */
  readonly enforcement: string;
  /** JSON: {mechanisms, noCgroup}. */
  readonly tracking: string;
  /** Bytes that the kernel has not taken yet. */
  readonly queuedInput: number;
  /** Returns queuedInput. */
  write(data: string | Uint8Array): number;
  /** 0 or an errno. */
  resize(cols: number, rows: number, xPixels: number, yPixels: number): number;
  kill(signal: number): boolean;
  foregroundProgram(): string;
  pause(): void;
  resume(): void;
  hangUp(): void;
  deliver(): void;
  /** Calls back with a report (JSON; see disposal.ts). False: nothing is left, and nobody is called. */
  dispose(options: { signal: number; graceMs: number; deadlineMs: number }, done: (report: string) => void): boolean;
  /** JSON; see disposal.ts. */
  listProcesses(): string;
  ref(): void;
  unref(): void;
}

const addonName = 'sandboxed_pty.node';
const keeperName = 'sandboxed-pty-keeper';

/**
 * The path outside of an Electron archive for one inside of it: a program cannot be executed from within an archive,
 * so packagers unpack it beside.
 */
export function unpackedPath(file: string): string {
  return file.replace(/(\.asar)(?=[/\\])/, '$1.unpacked');
}

/** A report takes milliseconds, more with open sockets: only made if there is no binary built on this machine. */
function isMusl(): boolean {
  const { report } = process as { report?: { excludeNetwork?: boolean; getReport(): object } };
  if (!report) return false;
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  report.excludeNetwork = before ?? false;
  return header?.glibcVersionRuntime === undefined;
}

function platformName(): string {
  return `${process.platform}-${process.arch}${process.platform === 'linux' && isMusl() ? '-musl' : ''}`;
}

const root = path.join(__dirname, '..');

/** Where the binaries are: built here, or shipped. */
function findBinaries(): string {
  const built = path.join(root, 'build', 'Release');
  if (fs.existsSync(path.join(built, addonName))) return built;
  const shipped = path.join(root, 'prebuilds', platformName());
  if (fs.existsSync(path.join(shipped, addonName))) return shipped;
  throw new SandboxError(
    `sandboxed-pty has no binary for ${process.platform}-${process.arch}. It is built when the package is installed; ` +
      `if install scripts were skipped, run 'npm rebuild sandboxed-pty'. Looked in ${built} and ${shipped}.`,
    { code: 'ENOENT', stage: 'keeper', errno: -2, path: addonName },
  );
}

let loaded: { native: Native; directory: string } | undefined;

function load(): { native: Native; directory: string } {
  if (loaded) return loaded;
  const directory = findBinaries();
  loaded = { native: require(path.join(directory, addonName)) as Native, directory };
  return loaded;
}

export function loadNative(): Native {
  return load().native;
}

let keeper: string | undefined;

/** The keeper program beside the addon. Checked once, with an error that says what is wrong with it. */
export function keeperPath(): string {
  if (keeper !== undefined) return keeper;
  const candidate = unpackedPath(path.join(load().directory, keeperName));
  try {
    fs.accessSync(candidate, fs.constants.X_OK);
    if (!fs.statSync(candidate).isFile()) throw Object.assign(new Error(), { code: 'EACCES', errno: -13 });
  } catch (error) {
    const { code = 'EIO', errno = -5 } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'is missing' : 'is not an executable file';
    throw new SandboxError(
      `the helper program ${candidate} ${reason}. Reinstall sandboxed-pty; in an Electron app, list it under ` +
        "'asarUnpack', so that it is a real file.",
      { code, stage: 'keeper', errno, path: candidate },
    );
  }
  keeper = candidate;
  return candidate;
}
