// The module under test: this package, or, to check the tests themselves, the node-pty that PTY_UNDER_TEST names.
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { IPty } from 'node-pty';

export interface Exit {
  exitCode: number;
  signal?: number;
}

export type Listener = (...args: any[]) => void;

/** node-pty's typed interface plus the members that clients use without types. */
export interface Terminal extends IPty {
  readonly fd: number;
  readonly ptsName: string;
  readonly master: any;
  readonly slave: any;
  readonly writableLength: number;
  readonly writableHighWaterMark: number;
  readonly _socket: { unref(): unknown; ref(): unknown; destroy(): unknown };
  write(data: any): any;
  kill(signal?: any): void;
  resize(cols?: any, rows?: any, pixelSize?: any): void;
  destroy(): void;
  end(data?: any): void;
  pipe<T>(destination: T, options?: { end?: boolean }): T;
  setEncoding(encoding: string | null): void;
  unref(): void;
  ref(): void;
  on(event: string, listener: Listener): undefined;
  once(event: string, listener: Listener): undefined;
  addListener(event: string, listener: Listener): undefined;
  removeListener(event: string, listener: Listener): undefined;
  removeAllListeners(event?: string): undefined;
  listeners(event: string): Listener[];
  emit(event: string, ...args: any[]): boolean;
}

export interface PtyModule {
  spawn(file?: any, args?: any, options?: any): Terminal;
  fork(file?: any, args?: any, options?: any): Terminal;
  createTerminal(file?: any, args?: any, options?: any): Terminal;
  open(options?: any): Terminal;
  createSandboxedPty(options: any): Terminal;
  SandboxError: new (...args: any[]) => Error;
}

function findRoot(from: string, name: string): string {
  for (let dir = from; dir !== path.dirname(dir); dir = path.dirname(dir)) {
    const manifest = path.join(dir, 'package.json');
    if (fs.existsSync(manifest) && JSON.parse(fs.readFileSync(manifest, 'utf8')).name === name) return dir;
  }
  throw new Error(`no package ${name} above ${from}`);
}

export const repositoryRoot = findRoot(__dirname, 'sandboxed-pty');

const requested = process.env['PTY_UNDER_TEST'] ?? repositoryRoot;

/** The file that `require` loads; child processes load the same one. */
export const modulePath: string = require.resolve(requested);

/** True when the tests run against node-pty, so that what only this package promises is left out. */
export const isNodePty = path.basename(requested) === 'node-pty';

export const packageName = isNodePty ? 'node-pty' : 'sandboxed-pty';
export const packageRoot = isNodePty ? findRoot(path.dirname(modulePath), 'node-pty') : repositoryRoot;

let loaded: PtyModule | undefined;

/** Loads on first use: a missing build fails the tests that need it, with the loader's own message. */
export function load(): PtyModule {
  loaded ??= require(modulePath) as PtyModule;
  return loaded;
}
