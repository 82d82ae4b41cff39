// pause, resume and handleFlowControl.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { better, contract, Gate, linux, load, raw, run, script, temporaryDirectory, track, until, type Session } from './support';

/** Prints to the terminal and then leaves a file: it tells what happened without the terminal. */
const printsThenMarks = 'read x < "$1"; echo printed; touch "$2"; read line; echo "<$line>"; touch "$3"; read line';

function paused(): { session: Session; gate: Gate; marks: [string, string] } {
  const dir = temporaryDirectory();
  const gate = new Gate(dir);
  const marks: [string, string] = [path.join(dir, 'first'), path.join(dir, 'second')];
  const session = script(printsThenMarks, {}, gate.path, ...marks);
  session.pty.pause();
  return { session, gate, marks };
}

/** Turns of the event loop in which a terminal that was not paused would long have told. */
async function otherSession(): Promise<void> {
  await run('sh', ['-c', 'echo other']);
}

contract('a paused terminal tells nothing until it is resumed, and then everything', async () => {
  const { session, gate, marks } = paused();
  gate.open();
  await until('the child has printed', () => fs.existsSync(marks[0]));
  await otherSession();
  expect(session.output).toBe('');
  session.pty.resume();
  await session.printed('printed');
});

contract('input reaches the child of a paused terminal', async () => {
  const { session, gate, marks } = paused();
  gate.open();
  session.pty.write('typed\r');
  await until('the child has answered', () => fs.existsSync(marks[1]));
  expect(session.output).toBe('');
  session.pty.resume();
  await session.printed('<typed>');
});

contract('pause and resume may be repeated', async () => {
  const { session, gate } = paused();
  session.pty.pause();
  session.pty.pause();
  session.pty.resume();
  session.pty.resume();
  gate.open();
  await session.printed('printed');
});

contract('output is whole and in order through many pauses', async () => {
  const session = script('seq 1 50000; echo end; read line');
  let chunks = 0;
  session.pty.onData(() => {
    if (++chunks % 3 !== 0) return;
    session.pty.pause();
    setImmediate(() => session.pty.resume());
  });
  await session.printed('end\r\n');
  expect(session.output).toBe(Array.from({ length: 50_000 }, (_, i) => `${i + 1}\r\n`).join('') + 'end\r\n');
});

contract('a pause inside a data listener holds back what follows', async () => {
  const session = script('seq 1 50000; echo end; read line');
  const first = await new Promise<number>((resolve) => {
    session.pty.onData(() => {
      session.pty.pause();
      resolve(session.chunks.length);
    });
  });
  await otherSession();
  expect(session.chunks.length).toBe(first);
  expect(session.output).not.toContain('end');
});

contract.needing(linux)('a paused terminal holds its child back: memory does not grow with what the child could print', async () => {
  const total = 256 * 1024 * 1024;
  const session = track(load().spawn('head', ['-c', String(total), '/dev/zero'], {}));
  session.pty.pause();
  const written = (): number => Number(/^wchar: (\d+)/m.exec(fs.readFileSync(`/proc/${session.pty.pid}/io`, 'utf8'))?.[1]);
  let before = -1;
  // Only a child that waits for the terminal makes no progress while a whole other session comes and goes, three times.
  for (let still = 0; still < 3; ) {
    await otherSession();
    const now = written();
    still = now === before && now > 0 ? still + 1 : 0;
    before = now;
  }
  expect(before).toBeLessThan(total / 16);
});

const receives = `${raw} head -c 1 | od -An -tx1; read line`;

/** A terminal with flow control on, whose child says which byte it got first. */
async function controlled(options: object = {}): Promise<Session> {
  const session = script(receives, { handleFlowControl: true, ...options });
  await session.printed('ready');
  return session;
}

contract('with handleFlowControl XOFF pauses and XON resumes, and the child sees neither', async () => {
  const session = await controlled();
  expect(session.pty.write('\x13')).toBeUndefined();
  session.pty.write('a');
  await otherSession();
  const before = session.output;
  expect(before).not.toContain('61');
  session.pty.write('\x11');
  await session.printed('61');
});

contract('the strings for pause and resume can be chosen', async () => {
  const session = await controlled({ flowControlPause: 'PAUSE', flowControlResume: 'RESUME' });
  session.pty.write('PAUSE');
  session.pty.write('b');
  await otherSession();
  expect(session.output).not.toContain('62');
  session.pty.write('RESUME');
  await session.printed('62');
});

contract('a chosen string replaces the default one', async () => {
  const session = await controlled({ flowControlPause: 'PAUSE', flowControlResume: 'RESUME' });
  session.pty.write('\x13');
  await session.printed('13');
});

contract('an empty string means the default', async () => {
  const session = await controlled({ flowControlPause: '', flowControlResume: '' });
  session.pty.write('\x13');
  session.pty.write('c');
  session.pty.write('\x11');
  await session.printed('63');
});

contract('only a whole message counts, and only a string', async () => {
  const longer = await controlled();
  longer.pty.write('\x13x');
  await longer.printed('13');
  const buffer = await controlled();
  buffer.pty.write(Buffer.from('\x13'));
  await buffer.printed('13');
});

contract('without handleFlowControl the characters go to the child', async () => {
  const session = await controlled({ handleFlowControl: false });
  session.pty.write('\x13');
  await session.printed('13');
});

contract('handleFlowControl can be switched while the terminal lives', async () => {
  const session = await controlled({ handleFlowControl: false });
  session.pty.handleFlowControl = true;
  session.pty.write('\x13');
  session.pty.write('d');
  await otherSession();
  expect(session.output).not.toContain('64');
  session.pty.write('\x11');
  await session.printed('64');
});

contract('a paused terminal that has nothing to print tells its exit', async () => {
  const mark = path.join(temporaryDirectory(), 'mark');
  const session = script('touch "$1"; read line', {}, mark);
  session.pty.pause();
  await until('it runs', () => fs.existsSync(mark));
  session.pty.kill('SIGKILL');
  expect(await session.exit()).toMatchObject({ signal: 9 });
});

better('whoever kills a paused terminal hears what it printed, and its exit', async () => {
  const { session, gate, marks } = paused();
  gate.open();
  await until('the child has printed', () => fs.existsSync(marks[0]));
  await otherSession();
  expect(session.output).toBe('');
  session.pty.kill('SIGKILL');
  expect(await session.exit()).toMatchObject({ signal: 9 });
  expect(session.output).toContain('printed');
});

better('a paused terminal that ends by itself keeps what it printed, and its exit, until it is resumed', async () => {
  const mark = path.join(temporaryDirectory(), 'mark');
  const session = script('echo printed; touch "$1"', {}, mark);
  session.pty.pause();
  let ended = false;
  session.pty.onExit(() => (ended = true));
  await until('it has printed', () => fs.existsSync(mark));
  await otherSession();
  expect({ output: session.output, ended }).toEqual({ output: '', ended: false });
  session.pty.resume();
  await session.exit();
  expect(session.output).toContain('printed');
});
