import * as path from 'path';

/** node-pty's options. What only matters on Windows is accepted and ignored. */
export interface SpawnOptions {
  name?: string;
  cols?: number;
  rows?: number;
  cwd?: string;
  env?: { [name: string]: string | undefined };
  uid?: number;
  gid?: number;
  /** null: output as Buffers. */
  encoding?: string | null;
  handleFlowControl?: boolean;
  flowControlPause?: string;
  flowControlResume?: string;
  useConpty?: boolean;
  useConptyDll?: boolean;
  conptyInheritCursor?: boolean;
}

/** Options with every default filled in and every value checked. */
export interface ResolvedOptions {
  file: string;
  args: string[];
  /** NAME=value entries, each with a NUL byte behind it: one string crosses into native code faster than many. */
  env: string;
  cwd: string;
  /** As the caller gave them; the kernel gets the integer part. */
  cols: number;
  rows: number;
  uid?: number;
  gid?: number;
  encoding: BufferEncoding | null;
  /** Whether the line discipline is told that input is UTF-8. */
  utf8Line: boolean;
  handleFlowControl: boolean;
  flowControlPause: string;
  flowControlResume: string;
  /** What the shell leaves running stays until dispose(). */
  keepAliveAfterExit?: boolean;
  /** Descriptors 0, 1 and 2 of the program; -1: the terminal. */
  stdio?: readonly number[];
}

const usage = 'Usage: pty.fork(file, args, env, cwd, cols, rows, uid, gid, utf8, helperPath, onexit)';

/** Left over from a terminal that the host itself runs in, and wrong in a new one. */
export const hostTerminalVariables: ReadonlySet<string> = new Set([
  'TMUX',
  'TMUX_PANE',
  'STY',
  'WINDOW',
  'WINDOWID',
  'TERMCAP',
  'COLUMNS',
  'LINES',
]);

function withCode<E extends Error>(error: E, code: string): E {
  return Object.assign(error, { code });
}

function checkType(name: string, value: unknown, type: string): void {
  if (value && typeof value !== type) throw new Error(`${name} must be a ${type} (not a ${typeof value})`);
}

function checkTypes(options: SpawnOptions): void {
  checkType('name', options.name, 'string');
  checkType('cols', options.cols, 'number');
  checkType('rows', options.rows, 'number');
  checkType('cwd', options.cwd, 'string');
  checkType('env', options.env, 'object');
  checkType('uid', options.uid, 'number');
  checkType('gid', options.gid, 'number');
  checkType('encoding', options.encoding, 'string');
}

/** The kernel keeps a size in 16 bits. */
function checkSize(name: string, value: number, least: number): void {
  if (typeof value === 'number' && value >= least && value < 65536) return;
  throw withCode(new RangeError(`${name} must be between ${least} and 65535 (it is ${value})`), 'ERR_OUT_OF_RANGE');
}

export function checkCells(name: string, value: number): void {
  checkSize(name, value, 1);
}

/** 0: not known. */
export function checkPixels(name: string, value: number): void {
  checkSize(name, value, 0);
}

function checkNul(what: string, value: string): void {
  if (value.includes('\0')) {
    throw withCode(new TypeError(`${what} must not contain a NUL byte`), 'ERR_INVALID_ARG_VALUE');
  }
}

function checkId(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value > 0xfffffffe) {
    throw withCode(new RangeError(`${name} must be a user or group number (it is ${value})`), 'ERR_OUT_OF_RANGE');
  }
}

/** The caller's stdio as the native side wants it. */
export function resolveStdio(stdio: unknown): readonly number[] {
  if (!Array.isArray(stdio) || stdio.length !== 3) {
    throw withCode(new TypeError('stdio must be an array of three descriptors or nulls'), 'ERR_INVALID_ARG_TYPE');
  }
  return stdio.map((fd: unknown, i) => {
    if (fd === null || fd === undefined) return -1;
    if (Number.isInteger(fd) && (fd as number) >= 0 && (fd as number) <= 0x7fffffff) return fd as number;
    throw withCode(new TypeError(`stdio[${i}] must be a file descriptor or null`), 'ERR_INVALID_ARG_TYPE');
  });
}

export function resolveEncoding(encoding: string | null | undefined): BufferEncoding | null {
  if (encoding === null) return null;
  const name = encoding || 'utf8';
  if (!Buffer.isEncoding(name)) {
    throw withCode(new TypeError(`Unknown encoding: ${name}`), 'ERR_UNKNOWN_ENCODING');
  }
  return name;
}

function resolveArgs(args: unknown): string[] {
  if (typeof args === 'string') throw new Error('args as a string is not supported on unix.');
  if (!args) return [];
  if (!Array.isArray(args)) throw new Error(usage);
  args.forEach((argument: unknown, i) => {
    if (typeof argument !== 'string') {
      throw withCode(new TypeError(`args[${i}] must be a string (it is a ${typeof argument})`), 'ERR_INVALID_ARG_TYPE');
    }
    checkNul(`args[${i}]`, argument);
  });
  return [...(args as string[])];
}

function resolveFile(file: unknown): string {
  const name = file || 'sh';
  if (typeof name !== 'string') throw new Error(usage);
  checkNul('file', name);
  return name;
}

function resolveEnv(options: SpawnOptions, cwd: string): string {
  const given: Record<string, unknown> = options.env || process.env;
  const host = given === process.env;
  let entries = '';
  const add = (name: string, value: unknown): void => {
    const entry = `${name}=${value}`;
    checkNul(`env.${name}`, entry);
    entries += `${entry}\0`;
  };
  // Name by name: a copy of process.env asks the system three times for each variable.
  for (const name of Object.keys(given)) {
    if (name === 'PWD' || name === 'TERM' || (host && hostTerminalVariables.has(name))) continue;
    add(name, given[name]);
  }
  add('PWD', cwd);
  add('TERM', options.name || given['TERM'] || 'xterm');
  return entries;
}

/**
 * node-pty's rules, and a TypeError or RangeError where node-pty crashes, truncates or leaks a child. `cwd` in place of
 * the options', if there is one; `ownEnv`: the environment is somebody else's business.
 */
export function resolveOptions(
  file: unknown,
  args: unknown,
  options: SpawnOptions,
  cwd = options.cwd,
  ownEnv = false,
): ResolvedOptions {
  checkTypes(options);
  const resolved: ResolvedOptions = {
    file: resolveFile(file),
    args: resolveArgs(args),
    env: '',
    cwd: cwd || process.cwd(),
    cols: options.cols || 80,
    rows: options.rows || 24,
    encoding: resolveEncoding(options.encoding),
    utf8Line: options.encoding === undefined || options.encoding === 'utf8',
    handleFlowControl: !!options.handleFlowControl,
    flowControlPause: options.flowControlPause || '\x13',
    flowControlResume: options.flowControlResume || '\x11',
  };
  checkCells('cols', resolved.cols);
  checkCells('rows', resolved.rows);
  checkNul('cwd', resolved.cwd);
  const uid = options.uid ?? -1;
  const gid = options.gid ?? -1;
  if (uid !== -1 && gid !== -1) {
    checkId('uid', uid);
    checkId('gid', gid);
    Object.assign(resolved, { uid, gid });
  }
  if (!ownEnv) resolved.env = resolveEnv(options, resolved.cwd);
  // Not normalised: `link/..` is where the kernel says it is. Absolute, because the keeper's own directory is another.
  if (!path.isAbsolute(resolved.cwd)) resolved.cwd = `${process.cwd()}/${resolved.cwd}`;
  return resolved;
}
