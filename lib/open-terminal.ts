import { closeSync } from 'fs';
import { constants } from 'os';
import * as tty from 'tty';
import { getSystemErrorName } from 'util';

import { isNativeFailure, toSandboxError } from './errors';
import { loadNative } from './native-loader';
import { checkCells, resolveEncoding } from './options';

export interface OpenOptions {
  cols?: number;
  rows?: number;
  encoding?: string | null;
}

/** A pair of terminal ends without a process. Both stay open, and keep the event loop alive, until destroy(). */
export class OpenTerminal {
  readonly pid = -1;
  readonly master: tty.ReadStream;
  readonly slave: tty.ReadStream;
  readonly ptsName: string;
  readonly fd: number;
  cols: number;
  rows: number;

  constructor(options: OpenOptions = {}) {
    this.cols = options.cols || 80;
    this.rows = options.rows || 24;
    checkCells('cols', this.cols);
    checkCells('rows', this.rows);
    const encoding = resolveEncoding(options.encoding);
    const utf8 = options.encoding === undefined || options.encoding === 'utf8';
    const pair = openPair(Math.trunc(this.cols), Math.trunc(this.rows), utf8);
    this.ptsName = pair.name;
    this.fd = pair.master;
    this.master = openStream(pair.master, [pair.slave]);
    try {
      this.slave = openStream(pair.slave, []);
    } catch (error) {
      this.master.destroy();
      throw error;
    }
    for (const end of [this.master, this.slave]) {
      if (encoding !== null) end.setEncoding(encoding);
      end.resume();
    }
  }

  get _pty(): string {
    return this.ptsName;
  }

  resize(cols: number, rows: number): void {
    if (!(cols > 0 && rows > 0) || cols === Infinity || rows === Infinity) {
      throw new Error('resizing must be done using positive cols and rows');
    }
    checkCells('cols', cols);
    checkCells('rows', rows);
    // A client may have destroyed the ends by itself; then the number may be a stranger's.
    const errno = this.master.destroyed ? 0 : loadNative().resizePty(this.fd, Math.trunc(cols), Math.trunc(rows));
    if (errno !== 0 && errno !== constants.errno.EBADF)
      throw new Error(`ioctl(2) failed, ${getSystemErrorName(-errno)}`);
    this.cols = cols;
    this.rows = rows;
  }

  destroy(): void {
    this.slave.destroy();
    this.master.destroy();
  }
}

/** A stream that owns `fd`; if there can be none, `fd` and `others` are closed. */
function openStream(fd: number, others: number[]): tty.ReadStream {
  let stream: tty.ReadStream;
  try {
    stream = new tty.ReadStream(fd);
  } catch (error) {
    for (const each of [fd, ...others]) closeSync(each);
    throw error;
  }
  // libuv opens a terminal's slave anew, in order to make it non-blocking for itself alone, and leaves ours to us.
  const { _handle: handle } = stream as unknown as { _handle?: { fd: number } };
  if (handle && handle.fd !== fd) closeSync(fd);
  return stream;
}

function openPair(cols: number, rows: number, utf8: boolean): { master: number; slave: number; name: string } {
  try {
    return loadNative().openPty({ cols, rows, utf8 });
  } catch (error) {
    throw isNativeFailure(error) ? toSandboxError(error) : error;
  }
}
