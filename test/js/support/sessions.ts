// Terminals that a test starts: their output is kept, and what is still alive after the test is ended.
import { load, type Exit, type Terminal } from './module';
import { within } from './processes';

export class Session {
  /** All text so far; Buffers (encoding null) are kept in `chunks` only. */
  output = '';
  readonly chunks: unknown[] = [];
  readonly exits: Exit[] = [];
  readonly exited: Promise<Exit>;
  private watchers: Array<() => void> = [];

  constructor(readonly pty: Terminal) {
    pty.onData((chunk: unknown) => {
      this.chunks.push(chunk);
      if (typeof chunk === 'string') this.output += chunk;
      this.notify();
    });
    this.exited = new Promise((resolve) => {
      pty.onExit((exit) => {
        this.exits.push(exit);
        this.notify();
        resolve(exit);
      });
    });
  }

  /** Resolves with everything up to and including the text, once it has been printed. */
  async printed(text: string, times = 1): Promise<string> {
    let watcher: (() => void) | undefined;
    const seen = new Promise<string>((resolve, reject) => {
      watcher = () => {
        const parts = this.output.split(text);
        if (parts.length > times) resolve(parts.slice(0, times).join(text) + text);
        else if (this.exits.length > 0) reject(new Error(`ended without printing ${JSON.stringify(text)}: ${this.tail()}`));
      };
      this.watchers.push(watcher);
      watcher();
    });
    try {
      return await within(JSON.stringify(text), seen, () => `in ${this.tail()}`);
    } finally {
      this.watchers = this.watchers.filter((candidate) => candidate !== watcher);
    }
  }

  exit(): Promise<Exit> {
    return within('the exit', this.exited, () => `after ${this.tail()}`);
  }

  private tail(): string {
    return JSON.stringify(this.output.slice(-400));
  }

  private notify(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}

const sessions: Session[] = [];

/** Takes over a terminal that the test made itself: its listeners come now. */
export function track(pty: Terminal): Session {
  const session = new Session(pty);
  sessions.push(session);
  return session;
}

export function start(file?: unknown, args?: unknown, options?: unknown): Session {
  return track(load().spawn(file, args, options));
}

/** A shell script in a terminal; further arguments are its $1, $2 ... */
export function script(text: string, options: object = {}, ...args: string[]): Session {
  return start('/bin/sh', ['-c', text, 'sh', ...args], options);
}

/** Runs to the end: the whole output and how it ended. */
export async function run(file: string, args: string[], options: object = {}): Promise<{ output: string; exit: Exit }> {
  const session = start(file, args, options);
  const exit = await session.exit();
  return { output: session.output, exit };
}

export async function endSessions(): Promise<void> {
  // Never touch an ended one again: its pid may belong to somebody else.
  const alive = sessions.splice(0).filter((session) => session.exits.length === 0);
  for (const session of alive) {
    session.pty.kill('SIGKILL');
    session.pty.destroy(); // a paused terminal may hold its exit back
  }
  await Promise.all(alive.map((session) => session.exit()));
}
