import * as fs from 'fs';
import * as tty from 'tty';

import { loadNative } from '../native-loader';

/** How often a process in the background looks whether it was brought to the foreground: nobody tells it. */
const backgroundLookMs = 300;

/**
 * The user's own keyboard and screen while a session is shown there: raw, and put back as it was whenever we are not in
 * charge, however that comes about.
 */
export class HostTerminal {
  private line: Buffer | undefined;
  private stream: tty.ReadStream | undefined;
  private looking: NodeJS.Timeout | undefined;
  private wanted = false;
  private gone = false;

  constructor(
    private readonly fd: number,
    private readonly onKeys: (data: Buffer) => void,
    private readonly onGone: () => void,
  ) {
    process.on('exit', () => this.release());
  }

  /** Whether it is ours now. */
  get taken(): boolean {
    return this.line !== undefined;
  }

  /** Takes the terminal as soon as it is ours to take. */
  take(): void {
    this.wanted = true;
    this.tryTake();
    if (!this.gone && this.line === undefined && this.looking === undefined) {
      this.looking = setInterval(() => this.tryTake(), backgroundLookMs);
      this.looking.unref();
    }
  }

  /** Gives it back. The last step before any message, stop or end. */
  release(): void {
    this.wanted = false;
    this.stopLooking();
    this.stream?.pause();
    const { line } = this;
    this.line = undefined;
    // A terminal that was closed needs no care any more: there is nobody to tell.
    if (line !== undefined) loadNative().restoreLine(this.fd, line);
  }

  private tryTake(): void {
    if (!this.wanted || this.gone || this.line !== undefined || !loadNative().inForeground(this.fd)) return;
    this.stopLooking();
    try {
      this.line = loadNative().makeRaw(this.fd);
    } catch {
      this.lose(); // hung up: the kernel sends SIGCONT along with SIGHUP, and that brought us here
      return;
    }
    this.read();
  }

  private lose(): void {
    if (this.gone) return;
    this.gone = true;
    this.release();
    this.onGone();
  }

  private stopLooking(): void {
    clearInterval(this.looking);
    this.looking = undefined;
  }

  private read(): void {
    if (this.stream === undefined) {
      this.stream = this.fd === 0 ? (process.stdin) : new tty.ReadStream(this.fd);
      this.stream.on('data', this.onKeys);
      this.stream.on('end', () => this.lose());
      this.stream.on('error', () => this.lose());
    }
    this.stream.resume();
  }
}

/** The terminal that keys come from: standard input, or the one we belong to if that is a pipe. */
export function findKeyboard(): number | undefined {
  if (tty.isatty(0)) return 0;
  try {
    return fs.openSync('/dev/tty', fs.constants.O_RDWR | fs.constants.O_NOCTTY);
  } catch {
    return undefined; // no terminal belongs to this process
  }
}
