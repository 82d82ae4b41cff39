// Terminals as the source of several pipes.
import { Writable } from 'node:stream';
import { better, ours, script, until, type Session } from './support';

/** Takes one chunk, and is full until it is told to go on. */
class Slow extends Writable {
  received = '';
  private finish: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: 1, decodeStrings: false });
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.received += chunk;
    this.finish = done;
  }

  get full(): boolean {
    return this.finish !== undefined;
  }

  go(): void {
    const finish = this.finish;
    this.finish = undefined;
    finish?.();
  }
}

/** Prints a line for each line that it reads. */
const parrot = 'stty -echo; echo ready; while read line; do echo "<$line>"; done';

/** Time in which another terminal answers, again and again: what was to come would have come. */
async function meanwhile(): Promise<void> {
  const other = script(parrot);
  for (let i = 0; i < 5; i++) {
    other.pty.write(`${i}\r`);
    await other.printed(`<${i}>`);
  }
}

async function piped(count: number): Promise<{ session: Session; slow: Slow[] }> {
  const session = script(parrot);
  await session.printed('ready');
  const slow = Array.from({ length: count }, () => session.pty.pipe(new Slow(), { end: false }));
  session.pty.write('1\r');
  await until('the destinations are full', () => slow.every(({ full }) => full));
  return { session, slow };
}

better('a terminal waits until all that it is piped to can take more', async () => {
  const { session, slow } = await piped(2);
  const [first, second] = slow as [Slow, Slow];
  session.pty.write('2\r');
  first.go();
  await meanwhile();
  expect(session.output).not.toContain('<2>');
  second.go();
  await session.printed('<2>');
  expect([first.received, second.received].map((text) => text.includes('<2>'))).toEqual([true, true]);
});

better('a destination that has room again does not resume what the user has paused', async () => {
  const { session, slow } = await piped(1);
  session.pty.pause();
  session.pty.write('2\r');
  slow[0]?.go();
  await meanwhile();
  expect(session.output).not.toContain('<2>');
  session.pty.resume();
  await session.printed('<2>');
});

ours('resume() waits for a destination that is full', async () => {
  const { session, slow } = await piped(1);
  session.pty.write('2\r');
  session.pty.resume();
  await meanwhile();
  expect(session.output).not.toContain('<2>');
  slow[0]?.go();
  await session.printed('<2>');
});

better('a full destination that is closed holds nobody up', async () => {
  const { session, slow } = await piped(2);
  const [first, second] = slow as [Slow, Slow];
  session.pty.write('2\r');
  first.destroy();
  second.go();
  await session.printed('<2>');
});

better('a destination that was ended while it was full holds up nobody', async () => {
  const { session, slow } = await piped(1);
  session.pty.write('2\r');
  slow[0]?.end();
  slow[0]?.go();
  await session.printed('<2>');
  session.pty.write('3\r');
  await session.printed('<3>');
  expect(slow[0]?.received).not.toContain('<3>');
});

better('a destination that was ended, and is not done yet, gets nothing more', async () => {
  const { session, slow } = await piped(2);
  const [ended, other] = slow as [Slow, Slow];
  const errors: unknown[] = [];
  ended.on('error', (error) => errors.push(error));
  ended.end();
  other.go();
  session.pty.write('2\r');
  ended.go();
  other.go();
  await session.printed('<2>');
  expect(errors).toEqual([]);
  expect(ended.received).not.toContain('<2>');
});

better('a destination that fails is let go', async () => {
  const { session, slow } = await piped(1);
  const errors: unknown[] = [];
  slow[0]?.on('error', (error) => errors.push(error));
  slow[0]?.destroy(new Error('no more'));
  session.pty.write('2\r');
  await session.printed('<2>');
  expect(String(errors)).toBe('Error: no more');
});
