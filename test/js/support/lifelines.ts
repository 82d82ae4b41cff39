import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import * as path from 'node:path';
import { temporaryDirectory } from './files';
import { holders, within } from './processes';

const readers = new Map<string, ChildProcess>();

/**
 * Tells when the last process that holds it is gone, without asking for its pid: a process takes hold with
 * `exec 9> "$lifeline"`, and the end of the pipe is the end of all that held it.
 */
export class Lifeline {
  readonly path: string;
  private readonly end: Promise<void>;

  constructor() {
    this.path = path.join(temporaryDirectory(), 'lifeline');
    execFileSync('mkfifo', [this.path]);
    const reader = spawn('cat', [this.path], { stdio: 'ignore' });
    readers.set(this.path, reader);
    this.end = new Promise((resolve) => {
      reader.on('close', () => {
        readers.delete(this.path);
        resolve();
      });
    });
  }

  cut(): Promise<void> {
    return within('all holders of the lifeline to end', this.end);
  }
}

/** Ends what a failed test has left holding a lifeline, its reader included. */
function endHolders(lifeline: string): void {
  for (const pid of holders(lifeline)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}

export async function endLifelines(): Promise<void> {
  const left = [...readers];
  for (const [lifeline, reader] of left) {
    endHolders(lifeline);
    reader.kill('SIGKILL');
  }
  await Promise.all(left.map(([, reader]) => new Promise((resolve) => reader.once('close', resolve))));
}
