/** The native side of a terminal's input: takes bytes, answers how many it could not pass on yet. */
export interface InputSink {
  write(data: string | Uint8Array): number;
}

interface Piece {
  data: string | Buffer;
  /** How much of `data` is in use; a Buffer may have room for more. */
  length: number;
}

/** How much one call hands to the native side. */
const sliceLength = 64 * 1024;
/** How much the native side holds at most. */
const nativeLimit = 256 * 1024;

/**
 * Queued input. A large write is passed on in slices as the child reads, so that neither the call nor the event loop
 * is blocked by it, and a string is not encoded before its turn.
 */
export class InputFeeder {
  /** Above this, write() answers false and 'drain' follows. */
  static readonly highWaterMark = 256 * 1024;

  private readonly queue: Piece[] = [];
  private offset = 0;
  /** Bytes, or UTF-16 units of strings that are not encoded yet. */
  private queued = 0;
  private inNative = 0;

  constructor(private readonly sink: InputSink) {}

  get length(): number {
    return this.queued + this.inNative;
  }

  write(data: string | Uint8Array): void {
    if (this.queue.length === 0 && this.inNative < nativeLimit && data.length <= sliceLength) {
      this.inNative = this.sink.write(data);
      return;
    }
    if (typeof data === 'string') {
      this.queue.push({ data, length: data.length });
    } else {
      this.append(data);
    }
    this.queued += data.length;
    this.feed();
  }

  /** The native side has passed on all it had. */
  drained(): void {
    this.inNative = 0;
    this.feed();
  }

  clear(): void {
    this.queue.length = 0;
    this.offset = 0;
    this.queued = 0;
    this.inNative = 0;
  }

  /** Copied, because the caller may change its bytes afterwards; small ones are joined. */
  private append(bytes: Uint8Array): void {
    let tail = this.queue.at(-1);
    if (!tail || typeof tail.data === 'string' || tail.data.length - tail.length < bytes.length) {
      tail = { data: Buffer.allocUnsafeSlow(Math.max(bytes.length, sliceLength)), length: 0 };
      this.queue.push(tail);
    }
    (tail.data as Buffer).set(bytes, tail.length);
    tail.length += bytes.length;
  }

  private feed(): void {
    while (this.queue.length > 0 && this.inNative < nativeLimit) {
      const slice = this.nextSlice(this.queue[0]!);
      this.queued -= slice.length;
      this.inNative = this.sink.write(slice);
    }
  }

  private nextSlice({ data, length }: Piece): string | Buffer {
    const start = this.offset;
    let end = Math.min(start + sliceLength, length);
    if (end < length && typeof data === 'string' && isHighSurrogate(data.charCodeAt(end - 1))) --end;
    if (end === length) {
      this.queue.shift();
      this.offset = 0;
    } else {
      this.offset = end;
    }
    return typeof data === 'string' ? data.slice(start, end) : data.subarray(start, end);
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
