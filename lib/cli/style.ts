import { isatty } from 'tty';

/** Puts text into a colour, or leaves it as it is. */
export interface Style {
  good(text: string): string;
  bad(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

/** Colours only where a person looks: on a terminal, unless NO_COLOR or TERM=dumb asks for none. */
export function styleFor(fd: number, env: NodeJS.ProcessEnv = process.env): Style {
  const plain = !isatty(fd) || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const wrap = (code: number) => (text: string) => (plain ? text : `\x1b[${code}m${text}\x1b[0m`);
  return { good: wrap(32), bad: wrap(31), dim: wrap(2), bold: wrap(1) };
}

/** Text from a repository, a path, a kernel: it must not be able to speak to the terminal. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
