// The command line under test, as a process of its own: with pipes, or in a terminal that a test holds the other end of.
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { children, commandLine, repositoryRoot, start, temporaryDirectory, until, within, type Session } from '../support';

export const cli = path.join(repositoryRoot, 'dist/cli/main.js');

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Place {
  /** The project, and where the command is given. */
  cwd?: string;
  home?: string;
  env?: NodeJS.ProcessEnv;
  input?: string | Buffer;
}

/** Nothing of the machine's own settings, and no credentials to be cut out of anything. */
export function environment({ home, env }: Place): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', HOME: home ?? temporaryDirectory(), LANG: 'C.UTF-8', TERM: 'xterm', ...env };
}

/** Runs it with pipes. */
export function run(args: string[], place: Place = {}): Promise<End> {
  const child = spawn(process.execPath, [cli, ...args], { cwd: place.cwd ?? temporaryDirectory(), env: environment(place) });
  const end: End = { code: null, signal: null, stdout: '', stderr: '' };
  child.stdout.on('data', (data: Buffer) => (end.stdout += data.toString('latin1')));
  child.stderr.on('data', (data: Buffer) => (end.stderr += data.toString('latin1')));
  child.stdin.on('error', () => {}); // it may end without reading
  child.stdin.end(place.input ?? '');
  const ended = new Promise<End>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ ...end, code, signal }));
  });
  return within('the command to end', ended, () => `${end.stdout}${end.stderr}`, 60_000).finally(() => child.kill('SIGKILL'));
}

export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** `sandboxed-pty ARGS` for a shell. */
export function command(...args: string[]): string {
  return [process.execPath, cli, ...args].map(quote).join(' ');
}

/** A shell script in a terminal. */
export function inTerminal(script: string, place: Place = {}): Session {
  return start('/bin/bash', ['--norc', '--noprofile', '-c', script], {
    cwd: place.cwd ?? temporaryDirectory(),
    env: environment(place),
  });
}

/** An interactive shell, for job control. Its prompt is `> `. */
export async function interactiveShell(place: Place = {}): Promise<Session> {
  const session = start('/bin/bash', ['--norc', '--noprofile', '-i'], {
    cwd: place.cwd ?? temporaryDirectory(),
    env: { ...environment(place), PS1: '> ', HISTFILE: '', TERM: 'dumb' },
  });
  await session.printed('> ');
  return session;
}

/** Not "-icanon": a shell that reads a line with editing has that, too. */
export function isRaw(session: Session): boolean {
  return /(^|\s)-opost/.test(execFileSync('stty', ['-F', session.pty.ptsName, '-a'], { encoding: 'utf8' }));
}

/** The process that runs the command line, below a shell. */
export async function cliBelow(pid: number): Promise<number> {
  const isCli = (candidate: number): boolean => {
    try {
      return commandLine(candidate)[1] === cli;
    } catch {
      return false;
    }
  };
  let found: number | undefined;
  await until('the command runs', () => (found = [pid, ...children(pid)].find(isCli)) !== undefined);
  return found as number;
}

/** A file that Node.js loads first in the command's process. */
export function preload(source: string): NodeJS.ProcessEnv {
  const file = path.join(temporaryDirectory(), 'preload.cjs');
  fs.writeFileSync(file, source);
  return { NODE_OPTIONS: `--require ${file}` };
}
