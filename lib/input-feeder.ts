/** The native side of a terminal's input. */
export interface InputSink {
  /** Takes bytes; returns queuedInput. */
  write(data: string | Uint8Array): number;
  /** Bytes that it could not pass on yet. */
  readonly queuedInput: number;
}

/** How much of a string one call hands to the native side, and up to which size small writes are joined. */
const sliceLength = 64 * 1024;
/** Longer strings are not joined: making one string of several costs more than the calls that it saves. */
const smallLength = 1024;
/** Up to which amount of queued input the native side is given more of a string. */
const nativeLimit = 256 * 1024;

/**
 * Queued input. Bytes have to be copied at once, because the caller may change them afterwards, and the native side
 * does just that. A string cannot change: it is passed on in slices as the child reads, so that a large one blocks
 * neither the call nor the event loop, and is not encoded before its turn.
 */
export class InputFeeder {
  /** Above this, write() answers false and 'drain' follows. */
  static readonly highWaterMark = 256 * 1024;

  private queue: Array<string | Uint8Array> = [];
  /** Index of the first piece that is not finished, and how much of it is. */
  private head = 0;
  private offset = 0;
  /** Bytes, or UTF-16 units of strings that are not encoded yet. */
  private queued = 0;
  private inNative = 0;

  constructor(private readonly sink: InputSink) {}

  get length(): number {
    return this.queued + this.inNative;
  }

  write(data: string | Uint8Array): void {
    const now = typeof data !== 'string' || (this.inNative < nativeLimit && data.length <= sliceLength);
    if (now && this.queued === 0) {
      this.inNative = this.sink.write(data);
      return;
    }
    this.append(data);
    this.queued += data.length;
    if (this.inNative < nativeLimit) this.feed();
  }

  /** The native side has passed on what it had, or most of it. */
  drained(): void {
    this.inNative = this.sink.queuedInput;
    this.feed();
  }

  clear(): void {
    this.queue = [];
    this.head = 0;
    this.offset = 0;
    this.queued = 0;
    this.inNative = 0;
  }

  private append(data: string | Uint8Array): void {
    if (typeof data !== 'string') {
      this.queue.push(Buffer.from(data)); // a copy
    } else if (data.length <= smallLength && this.endsWithRoomFor(data.length)) {
      this.queue[this.queue.length - 1] += data;
    } else {
      this.queue.push(data);
    }
  }

  private endsWithRoomFor(length: number): boolean {
    const tail = this.queue.at(-1);
    return typeof tail === 'string' && tail.length + length <= sliceLength;
  }

  private feed(): void {
    while (this.queued > 0 && this.inNative < nativeLimit) {
      const slice = this.nextSlice(this.queue[this.head]);
      this.queued -= slice.length;
      this.inNative = this.sink.write(slice);
    }
  }

  private nextSlice(piece: string | Uint8Array): string | Uint8Array {
    const start = this.offset;
    let end = Math.min(start + sliceLength, piece.length);
    if (end < piece.length && typeof piece === 'string' && isHighSurrogate(piece.charCodeAt(end - 1))) --end;
    this.offset = end;
    if (end === piece.length) this.finishHead();
    return typeof piece === 'string' ? piece.slice(start, end) : piece.subarray(start, end);
  }

  private finishHead(): void {
    this.offset = 0;
    this.queue[this.head] = '';
    this.head += 1;
    // Moved up rarely: each piece is copied once at most.
    if (this.head < this.queue.length && this.head < Math.max(64, this.queue.length / 2)) return;
    this.queue = this.queue.slice(this.head);
    this.head = 0;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
