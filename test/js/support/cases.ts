// Four kinds of test case, by what node-pty does with them, and the conditions that a case may need.
import { isNodePty } from './module';

type Body = () => unknown;

/** Something that a case needs and that the machine may lack. */
export interface Need {
  readonly met: boolean;
  readonly reason: string;
  /** An expected lack (not being root) is never an error; any other becomes one with PTY_TESTS_FORBID_SKIPS=1. */
  readonly expected?: boolean;
}

export interface Case {
  (name: string, body: Body): void;
  needing(...needs: Need[]): Case;
}

export const root: Need = { met: process.getuid?.() === 0, reason: 'needs root', expected: true };
export const unprivileged: Need = { met: process.getuid?.() !== 0, reason: 'needs an unprivileged user', expected: true };
export const linux: Need = { met: process.platform === 'linux', reason: 'needs Linux', expected: true };

function declare(name: string, body: Body, needs: readonly Need[], wanted: boolean): void {
  if (!wanted) {
    test.skip(name, body as () => void);
    return;
  }
  const lacking = needs.find((need) => !need.met);
  if (lacking === undefined) {
    test(name, body as () => void);
  } else if (process.env['PTY_TESTS_FORBID_SKIPS'] === '1' && lacking.expected !== true) {
    test(name, () => {
      throw new Error(`would be skipped here: ${lacking.reason}`);
    });
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
