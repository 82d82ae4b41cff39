// The command line without a terminal, or with one for a part of its input and output only.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { linux, ours, temporaryDirectory, until } from '../support';
import { command, inTerminal, isRaw, run } from './support';

const piped = ours.needing(linux);

piped('input, output and errors are the pipes themselves', async () => {
  const bytes = Buffer.from([...Array(256).keys()]);
  const end = await run(['run', '--', 'sh', '-c', 'cat; echo text >&2; test -t 0 || test -t 1 || test -t 2 || exit 3'], { input: bytes });
  expect(end).toEqual({ code: 3, signal: null, stdout: bytes.toString('latin1'), stderr: 'text\n' });
});

piped('an input that has ended stays ended', async () => {
  const end = await run(['run', '--', 'sh', '-c', 'cat; cat; cat; echo done'], { input: 'once\n' });
  expect(end.stdout).toBe('once\ndone\n');
});

piped('no byte of much output is lost, whatever its reader does', async () => {
  const script = `${command('run', '--', 'sh', '-c', 'head -c 30000000 /dev/zero | tr "\\0" x')} | (sleep 0.3; sha256sum)`;
  const expected = createHash('sha256').update('x'.repeat(30_000_000)).digest('hex');
  const session = inTerminal(script);
  await session.exit();
  expect(session.output).toContain(expected);
});

// The program is through, and nobody has read a byte yet: more than a pipe holds is still with us.
piped('what the terminal showed is not lost when its reader comes late', async () => {
  const program = 'seq 1 12000; echo > over';
  const late = '(until [ -e over ]; do sleep 0.02; done; sleep 0.2; wc -l)';
  for (const script of [
    `${command('run', '--tty', '--', 'sh', '-c', program)} < /dev/null | ${late}`,
    `setsid ${command('run', '--', 'sh', '-c', `{ ${program}; } > /dev/tty`)} 2>&1 < /dev/null > /dev/null | ${late}`,
  ]) {
    const session = inTerminal(script);
    await session.exit();
    expect(session.output.trim()).toBe('12000');
  }
});

// With little output the program has ended long before, with much it is still held up by its terminal.
piped('a time limit also ends the wait for a reader', async () => {
  for (const lines of ['12000', '500000']) {
    const script = `(${command('run', '--tty', '--timeout', '2s', '--', 'seq', '1', lines)} < /dev/null; echo $? > code) | (until [ -e code ]; do sleep 0.02; done)`;
    const cwd = temporaryDirectory();
    await inTerminal(script, { cwd }).exit();
    expect(fs.readFileSync(`${cwd}/code`, 'utf8')).toBe('124\n');
  }
});

piped('a reader that goes away ends the program by SIGPIPE, and us with it', async () => {
  for (const flags of [[], ['--tty']]) {
    const session = inTerminal(`${command('run', ...flags, '--', 'yes')} < /dev/null | head -n 1; echo "codes \${PIPESTATUS[0]}"`);
    await session.exit();
    expect(session.output.replaceAll('\r', '')).toBe('y\ncodes 141\n');
  }
});

piped('before a pager keys stay with the pager: input is empty, and the terminal is left alone', async () => {
  const session = inTerminal(`${command('run', '--', 'sh', '-c', 'cat; echo out; echo shown >&2')} | (read line; stty -a < /dev/tty; echo "piped $line")`);
  await session.exit();
  expect(session.output).toContain('shown\r\n');
  expect(session.output).toContain('piped out\r\n');
  expect(session.output).toMatch(/[^-]icanon/);
});

piped('behind a pipe the program reads it, and keys from its terminal', async () => {
  const session = inTerminal(`echo data | ${command('run', '--', 'sh', '-c', 'cat; echo ready; read key < /dev/tty; echo "key $key"')}; echo code $?`);
  await session.printed('data\r\nready\r\n');
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write('k\r');
  await session.printed('key k\r\n');
  await session.printed('code 0\r\n');
});

piped('Ctrl-C ends a program whose terminal is not raw', async () => {
  const session = inTerminal(`${command('run', '--', 'sh', '-c', 'echo ready >&2; exec sleep 1000')} | cat; echo "codes \${PIPESTATUS[0]}"`);
  await session.printed('ready\r\n');
  session.pty.write('\x03');
  const exit = await session.exit();
  // Bash itself gets the signal, too, and follows the example of the program that died of it.
  expect(exit.signal === 2 || session.output.includes('codes 130')).toBe(true);
});

piped('--tty: input is typed, and its end is the end', async () => {
  const end = await run(['run', '--tty', '--', 'sh', '-c', 'stty -echo; test -t 0 && test -t 1 && echo terminal; cat; echo done'], { input: 'line\nrest' });
  expect(end).toMatchObject({ code: 0, stderr: '' });
  expect(end.stdout).toMatch(/terminal\r\n/);
  expect(end.stdout).toMatch(/line\r\nrestdone\r\n$/);
});

piped('it needs no terminal of any kind', async () => {
  const session = inTerminal(`setsid -w ${command('run', '--', 'sh', '-c', 'echo runs; exit 6')} < /dev/null 2>&1 | cat; echo "codes \${PIPESTATUS[0]}"`);
  await session.exit();
  expect(session.output).toBe('runs\r\ncodes 6\r\n');
});

piped('a directory in place of a pipe or a file is refused', async () => {
  const session = inTerminal(`${command('run', '--', 'cat')} < ${temporaryDirectory()}; echo code $?`);
  await session.exit();
  expect(session.output).toContain("a directory cannot take the terminal's place");
  expect(session.output).toContain('code 125\r\n');
});
