/** The native side of a terminal's input: takes bytes, answers how many it could not pass on yet. */
export interface InputSink {
  write(data: string | Uint8Array): number;
}

type Piece = string | Buffer;

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
    // A caller may change its buffer afterwards; a string cannot change.
    this.queue.push(typeof data === 'string' ? data : Buffer.from(data));
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

  private feed(): void {
    while (this.queue.length > 0 && this.inNative < nativeLimit) {
      const slice = this.nextSlice(this.queue[0]!);
      this.queued -= slice.length;
      this.inNative = this.sink.write(slice);
    }
  }

  private nextSlice(head: Piece): Piece {
    const start = this.offset;
    let end = Math.min(start + sliceLength, head.length);
    if (end < head.length && typeof head === 'string' && isHighSurrogate(head.charCodeAt(end - 1))) --end;
    if (end === head.length) {
      this.queue.shift();
      this.offset = 0;
    } else {
      this.offset = end;
    }
    return typeof head === 'string' ? head.slice(start, end) : head.subarray(start, end);
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
