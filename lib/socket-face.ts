/** What SocketFace forwards to. */
interface Face {
  ref(): unknown;
  unref(): unknown;
  destroy(): void;
  pause(): void;
  resume(): void;
  readonly fd: number;
  write(data: string | Uint8Array): void;
  end(data?: string | Uint8Array): void;
  setEncoding(encoding: string | null): void;
  pipe<T extends NodeJS.WritableStream>(destination: T, options?: { end?: boolean }): T;
  emit(event: string, ...args: unknown[]): boolean;
  listeners(event: string): Function[];
  on(event: string, listener: (...args: any[]) => void): void;
  once(event: string, listener: (...args: any[]) => void): void;
  removeListener(event: string, listener: (...args: any[]) => void): void;
  removeAllListeners(event?: string): void;
}

/**
 * Clients of node-pty reach into its private `_socket`, mostly to unref or destroy it. There is no such stream here;
 * this forwards to the terminal what they use.
 */
export class SocketFace {
  constructor(private readonly terminal: Face) {}

  ref(): this {
    this.terminal.ref();
    return this;
  }

  unref(): this {
    this.terminal.unref();
    return this;
  }

  destroy(): this {
    this.terminal.destroy();
    return this;
  }

  pause(): this {
    this.terminal.pause();
    return this;
  }

  resume(): this {
    this.terminal.resume();
    return this;
  }

  write(data: string | Uint8Array): boolean {
    return (this.terminal.write(data) as unknown) !== false;
  }

  end(data?: string | Uint8Array): this {
    this.terminal.end(data);
    return this;
  }

  setEncoding(encoding: string | null): this {
    this.terminal.setEncoding(encoding);
    return this;
  }

  pipe<T extends NodeJS.WritableStream>(destination: T, options?: { end?: boolean }): T {
    return this.terminal.pipe(destination, options);
  }

  get fd(): number {
    return this.terminal.fd;
  }

  /** The master is closed: by destroy(), or because the session is over. */
  get destroyed(): boolean {
    return this.fd === -1;
  }

  get readable(): boolean {
    return !this.destroyed;
  }

  emit(event: string, ...args: unknown[]): boolean {
    return this.terminal.emit(event, ...args);
  }

  listeners(event: string): Function[] {
    return this.terminal.listeners(event);
  }

  addListener(event: string, listener: (...args: any[]) => void): this {
    return this.on(event, listener);
  }

  off(event: string, listener: (...args: any[]) => void): this {
    return this.removeListener(event, listener);
  }

  on(event: string, listener: (...args: any[]) => void): this {
    this.terminal.on(event, listener);
    return this;
  }

  once(event: string, listener: (...args: any[]) => void): this {
    this.terminal.once(event, listener);
    return this;
  }

  removeListener(event: string, listener: (...args: any[]) => void): this {
    this.terminal.removeListener(event, listener);
    return this;
  }

  removeAllListeners(event?: string): this {
    this.terminal.removeAllListeners(event);
    return this;
  }
}
