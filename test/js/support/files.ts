// Temporary directories, and gates: a child waits at one until the test opens it.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

const directories: string[] = [];
const descriptors: number[] = [];

export function temporaryDirectory(): string {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'pty-test-')));
  directories.push(dir);
  return dir;
}

export function writeScript(file: string, text: string, mode = 0o755): string {
  fs.writeFileSync(file, text);
  fs.chmodSync(file, mode);
  return file;
}

/** A child that runs `read x < "$gate"` waits until open(), whoever comes first. */
export class Gate {
  readonly path: string;
  private readonly fd: number;

  constructor(dir = temporaryDirectory(), name = 'gate') {
    this.path = path.join(dir, name);
    execFileSync('mkfifo', [this.path]);
    // Read and write: opening never blocks, and a line written before the reader comes is kept.
    this.fd = fs.openSync(this.path, 'r+');
    descriptors.push(this.fd);
  }

  open(): void {
    fs.writeSync(this.fd, 'open\n');
  }
}

export function removeFiles(): void {
  for (const fd of descriptors.splice(0)) fs.closeSync(fd);
  // A process that is just being ended may still write: then again.
  for (const dir of directories.splice(0)) fs.rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
}
