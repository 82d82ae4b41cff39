import { StringDecoder } from 'string_decoder';

export function isUtf8(encoding: BufferEncoding): boolean {
  const name = encoding.toLowerCase();
  return name === 'utf8' || name === 'utf-8';
}

/** Turns the terminal's bytes into what the caller asked for: strings of an encoding, or Buffers. */
export class OutputDecoder {
  /** Made when it is needed: most output of most terminals never comes as bytes. */
  private decoder: StringDecoder | undefined;
  /** The decoder may hold the beginning of a character. */
  private pending = false;
  private readonly utf8: boolean;

  constructor(private readonly encoding: BufferEncoding | null) {
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
    if (this.encoding === null) return chunk;
    return (this.decoder ??= new StringDecoder(this.encoding)).write(chunk);
  }

  /** What an incomplete character at the very end becomes. */
  end(): string {
    return this.decoder ? this.decoder.end() : '';
  }
}
