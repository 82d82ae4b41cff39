import * as fs from 'fs';
import * as tty from 'tty';

/** What the program gets as descriptors 0, 1 and 2, and what becomes of its terminal. */
export interface Channels {
  stdio: [number | null, number | null, number | null];
  /** Where the terminal's output goes. */
  screen: NodeJS.WriteStream;
  /** Whether keys go to the program. */
  keys: boolean;
  /** Our standard input is typed into the program's terminal. */
  typed: boolean;
  /** Whether a person sees the program's output. */
  interactive: boolean;
}

/** Never touched unless it is needed: Node.js would make a pipe non-blocking for everybody who shares it. */
const stream = (fd: 1 | 2): NodeJS.WriteStream => (fd === 1 ? process.stdout : process.stderr);

/**
 * A pipe or a file is handed to the program as it is: bytes stay bytes, its end is its end, and the program sees that it is
 * no terminal. What is a terminal here becomes the session's own there. Keys are passed on only to a program whose output
 * is shown: in `run -- x | less` they are for less.
 */
export function chooseChannels(forceTerminal: boolean): Channels {
  const [input, output, errors] = [tty.isatty(0), tty.isatty(1), tty.isatty(2)];
  if (forceTerminal) {
    return { stdio: [null, null, null], screen: stream(1), keys: input, typed: !input, interactive: output };
  }
  return {
    stdio: [input ? (output ? null : openNothing()) : 0, output ? null : 1, errors ? null : 2],
    screen: stream(output ? 1 : 2),
    keys: output,
    typed: false,
    interactive: output,
  };
}

function openNothing(): number {
  return fs.openSync('/dev/null', 'r');
}

export function sizeOf(screen: NodeJS.WriteStream): { cols: number; rows: number } {
  // A terminal that was never given a size says 0.
  return { cols: screen.columns || 80, rows: screen.rows || 24 };
}
