// Runs one task outside and inside a sandbox, in two directories of the same shape, and compares.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { linux, load, ours, repositoryRoot, track, type Case, type Exit, type Need, type Session } from '../support';

export type Profile = 'terminal' | 'workspace';
export type Where = 'outside' | Profile;

const nodePrefix = path.dirname(path.dirname(realpathSync(process.execPath)));
const systemPath = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** Node.js first: it may be in a home directory, or in /usr/local. */
const searchPath = [...new Set([path.dirname(realpathSync(process.execPath)), ...systemPath])];

/** Node.js comes with its npm from wherever it is installed; the system's own directories are granted anyway. */
const additional = nodePrefix === '/usr' ? [] : [nodePrefix];

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What a program prints, by its path or for the tasks' own PATH; undefined if it fails. */
function ask(program: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', env: { ...process.env, PATH: searchPath.join(':') } });
  return status === 0 ? stdout.trim() : undefined;
}

/** A program that the task runs. */
export function tool(name: string): Need {
  return { met: searchPath.some((directory) => isExecutable(path.join(directory, name))), reason: `needs ${name}` };
}

/** pip's own installer, which distributions leave out of their python3. */
export function pip(): Need {
  return { met: ask('python3', '-c', 'import ensurepip') !== undefined, reason: 'needs python3 with ensurepip' };
}

export interface Toolchain extends Need {
  /** What comes before a task's script. */
  readonly setUp: string;
  readonly sandbox: object;
}

/**
 * Rust's is often in a home directory, and what PATH leads to there only chooses one: that one is granted, as Node.js is, and
 * stands in PATH by itself.
 */
export function rust(): Toolchain {
  const has = (directory: string): boolean => ['cargo', 'rustc'].every((name) => isExecutable(path.join(directory, name)));
  const place = (process.env['PATH'] ?? '').split(':').find((directory) => path.isAbsolute(directory) && has(directory));
  const root = place === undefined || systemPath.includes(place) ? undefined : ask(path.join(place, 'rustc'), '--print', 'sysroot');
  if (root === undefined || root === '/usr' || !has(path.join(root, 'bin'))) return { ...tool('cargo'), setUp: '', sandbox: {} };
  const sandbox = { additional_executable_paths: [...additional, root] };
  return { met: true, reason: 'needs cargo', setUp: `PATH='${path.join(root, 'bin')}':$PATH; `, sandbox };
}

const sharedPlaces = ['/tmp', '/var/tmp', '/dev/shm', '/run/user'];

/**
 * Where homes and projects are made: not in a directory that the default settings grant as a whole, as that would prove
 * little, and the credentials of a home in there would be cut out of it.
 */
function findPlayground(): string | undefined {
  const candidates = [path.join(repositoryRoot, 'build'), os.homedir(), os.userInfo().homedir, '/opt'];
  for (const candidate of candidates) {
    try {
      accessSync(candidate, constants.W_OK);
      const directory = realpathSync(candidate);
      if (!sharedPlaces.some((shared) => `${directory}/`.startsWith(`${shared}/`))) return directory;
    } catch {
      // Missing, or somebody else's.
    }
  }
  return undefined;
}

const playground = findPlayground();

const apart: Need = { met: playground !== undefined, reason: 'needs a directory outside the shared ones' };

function isOneMount(): boolean {
  const [from, to] = [os.tmpdir(), playground ?? os.tmpdir()].map((place) => path.join(place, `pty-compat-${process.pid}`)) as [string, string];
  try {
    writeFileSync(from, '');
    renameSync(from, to);
    return true;
  } catch {
    return false;
  } finally {
    for (const file of [from, to]) rmSync(file, { force: true });
  }
}

/** A bind mount of the same file system is another one for rename(2). */
export const oneMount: Need = { met: isOneMount(), reason: 'needs project and temporary files on one mount' };

/** Cases of this suite: Linux only, and only with the tools that they name. */
export function needing(...tools: string[]): Case {
  return ours.needing(linux, apart, ...tools.map(tool));
}

const places: string[] = [];

afterEach(() => {
  for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
});

/** A home and a project. Every run has its own, so that none finds what another one left. */
export class Place {
  readonly base = mkdtempSync(path.join(playground ?? os.tmpdir(), 'pty-compat-'));
  readonly home = path.join(this.base, 'home');
  readonly project = path.join(this.base, 'project');

  constructor(files: Readonly<Record<string, string>> = {}) {
    places.push(this.base);
    mkdirSync(this.home);
    mkdirSync(this.project);
    const config = '[user]\n\tname = Somebody\n\temail = somebody@example.org\n[init]\n\tdefaultBranch = main\n[core]\n\tpager = cat\n';
    this.write('home/.gitconfig', config);
    for (const [file, text] of Object.entries(files)) this.write(file, text);
  }

  write(file: string, text: string): void {
    const target = path.join(this.base, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }

  read(file: string): string {
    return readFileSync(path.join(this.base, file), 'utf8');
  }

  /** Starts a program here, with the same environment wherever it runs. */
  start(where: Where, file: string, args: string[], sandbox: object = {}): Session {
    const env = {
      PATH: searchPath.join(':'),
      HOME: this.home,
      USER: os.userInfo().username,
      SHELL: '/bin/bash',
      LANG: 'C.UTF-8',
    };
    const settings = { enabled: true, profile: where, additional_executable_paths: additional, ...sandbox };
    const options = { file, args, env, home: this.home, projectDir: this.project, name: 'xterm' };
    return track(load().createSandboxedPty(where === 'outside' ? options : { ...options, sandbox: settings }));
  }
}

export interface Result {
  exit: Exit;
  /** Lines end in \n, and the places that differ from run to run have names. */
  output: string;
}

export interface Task {
  /** For bash -c, in an empty project. */
  script: string;
  /** Where it stands, relative to the parent of `home` and `project`, and what is in it. */
  files?: Readonly<Record<string, string>>;
  /** More settings than the profile. */
  sandbox?: object;
}

export async function runTask(where: Where, task: Task): Promise<Result> {
  const place = new Place(task.files);
  const session = place.start(where, '/bin/bash', ['--norc', '-c', task.script], task.sandbox);
  const exit = await session.exit();
  const output = session.output.replaceAll('\r\n', '\n').replaceAll(place.project, '<project>').replaceAll(place.home, '<home>');
  return { exit, output };
}

/** What a task that works prints, wherever it runs. */
export function success(output: string): Result {
  return { exit: { exitCode: 0, signal: 0 }, output };
}

/** The task prints this, and succeeds: outside, which shows that the task is right, and in both profiles. */
export async function sameEverywhere(output: string, task: Task, profiles: Profile[] = ['terminal', 'workspace']): Promise<void> {
  for (const where of ['outside', ...profiles] as Where[]) {
    expect({ where, ...(await runTask(where, task)) }).toEqual({ where, ...success(output) });
  }
}
