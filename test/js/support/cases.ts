// Three kinds of test case, by what node-pty does with them, and the conditions that a case may need.
import { existsSync } from 'node:fs';
import { isNodePty } from './module';

type Body = () => unknown;

/** Something that a case needs and that the machine may lack. */
export interface Need {
  readonly met: boolean;
  readonly reason: string;
}

export interface Case {
  (name: string, body: Body): void;
  needing(...needs: Need[]): Case;
}

export const root: Need = { met: process.getuid?.() === 0, reason: 'needs root' };
export const unprivileged: Need = { met: process.getuid?.() !== 0, reason: 'needs an unprivileged user' };
export const python: Need = { met: existsSync('/usr/bin/python3'), reason: 'needs python3' };
export const linux: Need = { met: process.platform === 'linux', reason: 'needs Linux' };

function declare(name: string, body: Body, needs: readonly Need[], wanted: boolean): void {
  if (!wanted) {
    test.skip(name, body as () => void);
    return;
  }
  const lacking = needs.find((need) => !need.met);
  if (lacking === undefined) {
    test(name, body as () => void);
  } else {
    process.stderr.write(`skipped: ${name} (${lacking.reason})\n`);
    test.skip(`${name} (skipped: ${lacking.reason})`, body as () => void);
  }
}

function kind(wanted: boolean, needs: readonly Need[] = []): Case {
  const declareCase = (name: string, body: Body): void => declare(name, body, needs, wanted);
  return Object.assign(declareCase, { needing: (...more: Need[]) => kind(wanted, [...needs, ...more]) });
}

/** What node-pty promises too. */
export const contract = kind(true);

/** What node-pty gets wrong: with PTY_UNDER_TEST=node-pty only run on request (PTY_TESTS_BETTER=1), and then red. */
export const better = kind(!isNodePty || process.env['PTY_TESTS_BETTER'] === '1');

/** What node-pty does not have at all. */
export const ours = kind(!isNodePty);
