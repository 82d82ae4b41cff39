import { StringDecoder } from 'string_decoder';

export function isUtf8(encoding: BufferEncoding): boolean {
  const name = encoding.toLowerCase();
  return name === 'utf8' || name === 'utf-8';
}

/** Turns the terminal's bytes into what the caller asked for: strings of an encoding, or Buffers. */
export class OutputDecoder {
  private decoder: StringDecoder | undefined;
  /** The decoder may hold the beginning of a character. */
  private pending = false;
  private readonly utf8: boolean;

  constructor(encoding: BufferEncoding | null) {
    this.decoder = encoding === null ? undefined : new StringDecoder(encoding);
    this.utf8 = encoding !== null && isUtf8(encoding);
  }

  /** Whether pure ASCII may come as a string instead of a Buffer. */
  get acceptsText(): boolean {
    return this.utf8;
  }

  decode(chunk: string | Buffer): string | Buffer {
    if (typeof chunk === 'string') {
      if (this.utf8 && !this.pending) return chunk;
      chunk = Buffer.from(chunk, 'latin1');
      this.pending = false;
    } else {
      this.pending = true;
    }
    return this.decoder ? this.decoder.write(chunk) : chunk;
  }

  /** What an incomplete character at the very end becomes. */
  end(): string {
    return this.decoder ? this.decoder.end() : '';
  }
}
