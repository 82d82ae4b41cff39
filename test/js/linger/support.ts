// Adversaries, found again by a token in their command line, and sessions of every kind to run them in.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import {
  commandLine, confined, isRunning, linux, load, pids, repositoryRoot, startTime, temporaryDirectory, track, until, type Session, type Terminal,
} from '../support';

export interface DisposeReport {
  converged: boolean;
  rounds: number;
  killed: number;
  survivors: { pid: number; name: string; state: string }[];
  elapsedMs: number;
  mechanisms: string[];
  problem?: string;
}

export interface Disposable extends Terminal {
  dispose(options?: object): Promise<DisposeReport>;
  listProcesses(): { pid: number; ppid: number; name: string; argv: string[]; startTime: Date; cpuSeconds: number; rssBytes: number }[];
}

export type DisposableSession = Session & { pty: Disposable };

const source = path.join(repositoryRoot, 'test/js/linger/probes/lingerer.c');
const directory = path.join(repositoryRoot, 'build/linger');

let compiled: string | undefined;

/** The program of adversaries; compiled once per test file, under a name of its own until it is complete. */
export function lingerer(): string {
  if (compiled !== undefined) return compiled;
  const program = path.join(directory, 'lingerer');
  const modified = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (modified(program) < modified(source)) {
    fs.mkdirSync(directory, { recursive: true });
    const unfinished = `${program}.${process.pid}`;
    execFileSync('cc', ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-o', unfinished, source]);
    fs.renameSync(unfinished, program);
  }
  return (compiled = program);
}

let tokens = 0;

/** No other process of the machine has this in its command line. */
export const newToken = (): string => `linger-${process.pid}-${Date.now()}-${++tokens}`;

/** A file that holds some adversaries: they end when it is removed, with the other files of the test if not before. */
export function newLeash(): string {
  const leash = path.join(temporaryDirectory(), 'leash');
  fs.writeFileSync(leash, '');
  return leash;
}

/** Nothing for a zombie. */
const startOf = (pid: number): string => (isRunning(pid) ? startTime(pid) : '');

/** Who runs with the token: "pid:start", so that a number used again is somebody else. Zombies do not count. */
export function bearers(token: string): string[] {
  return pids().flatMap((pid) => {
    try {
      if (!commandLine(pid).includes(token)) return [];
      const started = startOf(pid);
      return started === '' ? [] : [`${pid}:${started}`];
    } catch {
      return []; // it ended while we looked
    }
  });
}

/** Ends what a test has shown to survive. */
export function endBearers(token: string): void {
  for (const bearer of bearers(token)) {
    const at = bearer.indexOf(':');
    const pid = Number(bearer.slice(0, at));
    try {
      if (startOf(pid) === bearer.slice(at + 1)) process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}

/** Again and again: some multiply when they are killed, others have to be let go of. */
export async function endAllBearers(token: string, leash?: string): Promise<void> {
  if (leash !== undefined) fs.rmSync(leash, { force: true });
  await until('all are ended', () => {
    endBearers(token);
    return bearers(token).length === 0;
  });
}

/** An adversary is one only if node-pty's kill leaves something of it. The leader is what the terminal runs. */
export async function expectToOutliveNodePty(token: string, file: string, args: string[], ready: string, leash?: string): Promise<void> {
  const nodePty = require('node-pty') as typeof import('node-pty');
  const terminal = nodePty.spawn(file, args, { cwd: temporaryDirectory() });
  let output = '';
  terminal.onData((data) => (output += data));
  const exited = new Promise((resolve) => terminal.onExit(resolve));
  try {
    await until(`it prints ${ready}`, () => output.includes(ready));
    terminal.kill();
    // What holds the slave open holds node-pty's exit back, and the other way round it may come any time.
    await until('the leader is gone', () => !bearers(token).some((bearer) => bearer.startsWith(`${terminal.pid}:`)));
    expect(bearers(token).length).toBeGreaterThan(0);
  } finally {
    await endAllBearers(token, leash);
  }
  await exited;
}

interface NativeModule {
  loadNative(): { NativeSession: new (request: object, handlers: object) => object };
}

/** Sessions started by `body` get no cgroup. */
export function withoutCgroup<T>(body: () => T): T {
  const native = (require(path.join(repositoryRoot, 'dist/native-loader')) as NativeModule).loadNative();
  const original = native.NativeSession;
  native.NativeSession = function (request: object, handlers: object) {
    return new original({ ...request, useCgroup: false }, handlers);
  } as unknown as typeof original;
  try {
    return body();
  } finally {
    native.NativeSession = original;
  }
}

export interface Kind {
  name: string;
  confined: boolean;
  cgroup: boolean;
}

export const kinds: Kind[] = [
  { name: 'confined, with a cgroup', confined: true, cgroup: true },
  { name: 'confined, without a cgroup', confined: true, cgroup: false },
  { name: 'tracked, with a cgroup', confined: false, cgroup: true },
  { name: 'tracked, without a cgroup', confined: false, cgroup: false },
];

/** A session that runs a program. */
export function startKind(kind: Kind, file: string, args: string[], options: { settings?: object; env?: object } = {}): DisposableSession {
  const begin = (): Session =>
    kind.confined
      ? confined('', { additional_executable_paths: [file], ...options.settings }, { file, args, ...options.env })
      : track(load().spawn(file, args, { cwd: temporaryDirectory() }));
  return (kind.cgroup ? begin() : withoutCgroup(begin)) as DisposableSession;
}

export const startShell = (text: string, kind: Kind = kinds[2] as Kind): DisposableSession =>
  startKind(kind, '/bin/sh', ['-c', text]);

/** What the session says that it is ended by: the machine may have no cgroup to give. */
export function mechanismsOf(session: Session): string[] {
  const { tracking } = (session.pty as unknown as { session: { tracking: string } }).session;
  return (JSON.parse(tracking) as { mechanisms: string[] }).mechanisms;
}

/** Ends a session with dispose(), which must prove that nobody is left. */
export async function expectGone(session: DisposableSession, token: string): Promise<void> {
  expect(bearers(token).length).toBeGreaterThan(1);
  const mechanisms = mechanismsOf(session);
  const report = await session.pty.dispose();
  try {
    expect(bearers(token)).toEqual([]);
    expect(report).toMatchObject({ converged: true, survivors: [], mechanisms });
    expect(report.problem).toBeUndefined();
    expect(report.killed).toBeGreaterThan(0);
    expect(session.exits).toHaveLength(1);
    expect(session.pty.listProcesses()).toEqual([]);
  } finally {
    endBearers(token);
  }
}

/** Where the unified hierarchy is mounted; undefined if it is not. */
export const hierarchy: string | undefined = (linux.met ? fs.readFileSync('/proc/self/mountinfo', 'utf8') : '')
  .split('\n')
  .find((line) => line.includes(' - cgroup2 '))
  ?.split(' ')[4];

/** The cgroup of a process in it. */
export function cgroupOf(pid: number | 'self'): string {
  const line = fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n').find((entry) => entry.startsWith('0::'));
  return path.join(hierarchy ?? '', line?.slice(3) ?? '');
}

/** A case that makes cgroups of its own. */
export const writableCgroup = { met: hierarchy !== undefined && mayMove(), reason: 'needs a writable cgroup' };

function mayMove(): boolean {
  try {
    fs.accessSync(path.join(cgroupOf('self'), 'cgroup.procs'), fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs `body` with a new cgroup beside those of the sessions, and removes it. */
export async function withCgroup(name: string, body: (cgroup: string) => Promise<void>): Promise<void> {
  const cgroup = path.join(cgroupOf('self'), name);
  fs.mkdirSync(cgroup);
  try {
    await body(cgroup);
  } finally {
    // Its files may have no rights left; that it can be removed is the kernel's word that it is empty.
    await until('the cgroup is empty and removed', () => {
      try {
        fs.rmdirSync(cgroup);
        return true;
      } catch {
        return false;
      }
    });
  }
}

/** The private temporary directories of a host's sessions. */
export const tempsOf = (host: number, parent: string = os.tmpdir()): string[] =>
  fs.readdirSync(parent).filter((name) => name.startsWith(`sandboxed-pty-${host}-`)).map((name) => path.join(parent, name)).sort();

/** The names of the leaves of a host's sessions. */
export const leavesOf = (host: number): string[] => leafPathsOf(host).map((leaf) => path.basename(leaf));

/** Wherever they are. */
export function leafPathsOf(host: number): string[] {
  const found: string[] = [];
  for (let at = cgroupOf('self'); hierarchy !== undefined && at.startsWith(hierarchy); at = path.dirname(at)) {
    try {
      found.push(...fs.readdirSync(at).filter((name) => name.startsWith(`sandboxed-pty-${host}-`)).map((name) => path.join(at, name)));
    } catch {
      // Not ours to read.
    }
  }
  return found.sort();
}
