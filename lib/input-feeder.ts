/** The native side of a terminal's input. */
export interface InputSink {
  /** Takes bytes; returns queuedInput. */
  write(data: string | Uint8Array): number;
  /** Bytes that it could not pass on yet. */
  readonly queuedInput: number;
}

interface Piece {
  data: string | Buffer;
  /** How much of `data` is in use; a Buffer may have room for more. */
  length: number;
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

  private queue: Piece[] = [];
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
    if (typeof data === 'string') {
      if (this.queued === 0 && this.inNative < nativeLimit && data.length <= sliceLength) {
        this.inNative = this.sink.write(data);
        return;
      }
      this.appendString(data);
    } else {
      if (this.queued === 0) {
        this.inNative = this.sink.write(data);
        return;
      }
      this.appendBytes(data);
    }
    this.queued += data.length;
    this.feed();
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

  private appendString(text: string): void {
    const tail = text.length <= smallLength ? this.queue.at(-1) : undefined;
    if (tail && typeof tail.data === 'string' && tail.length + text.length <= sliceLength) {
      tail.data += text;
      tail.length += text.length;
    } else {
      this.queue.push({ data: text, length: text.length });
    }
  }

  /** Behind a string that waits: copied here. */
  private appendBytes(bytes: Uint8Array): void {
    let tail = this.queue.at(-1);
    if (!tail || typeof tail.data === 'string' || tail.data.length - tail.length < bytes.length) {
      tail = { data: Buffer.allocUnsafeSlow(Math.max(bytes.length, sliceLength)), length: 0 };
      this.queue.push(tail);
    }
    (tail.data as Buffer).set(bytes, tail.length);
    tail.length += bytes.length;
  }

  private feed(): void {
    while (this.queued > 0 && this.inNative < nativeLimit) {
      const slice = this.nextSlice(this.queue[this.head]!);
      this.queued -= slice.length;
      this.inNative = this.sink.write(slice);
    }
  }

  private nextSlice({ data, length }: Piece): string | Buffer {
    const start = this.offset;
    let end = Math.min(start + sliceLength, length);
    if (end < length && typeof data === 'string' && isHighSurrogate(data.charCodeAt(end - 1))) --end;
    this.offset = end;
    if (end === length) this.finishHead();
    return typeof data === 'string' ? data.slice(start, end) : data.subarray(start, end);
  }

  private finishHead(): void {
    this.offset = 0;
    this.queue[this.head]!.data = '';
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
