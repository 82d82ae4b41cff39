// The command line in a terminal: whose terminal it is at each moment, and that it is given back on every path.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { children, Lifeline, linux, ours, stat, temporaryDirectory, until, type Need, type Session } from '../support';
import { cliBelow, command, inTerminal, interactiveShell, isRaw, preload, quote } from './support';

const shown = ours.needing(linux);

/** Runs a program with `run` between two looks at the line settings. */
function watched(program: string, place = {}, ...flags: string[]): Session {
  return inTerminal(`echo mode $(stty -g); ${command('run', ...flags, '--', 'sh', '-c', program)}; echo code $?; echo mode $(stty -g); sleep 1000`, place);
}

async function expectRestored(session: Session, code: number | string): Promise<void> {
  const output = await session.printed('mode ', 2);
  expect(output).toContain(`code ${code}\r\n`);
  await until('both looks are printed', () => (session.output.match(/mode \S+\r\n/g) ?? []).length === 2);
  const [before, after] = [...session.output.matchAll(/mode (\S+)\r\n/g)].map((match) => match[1]);
  expect(after).toBe(before);
}

shown('the terminal is raw while the program runs, passes every key, and is restored', async () => {
  const session = watched('echo ready; read x; echo "got $x"; exit 7');
  await session.printed('ready\r\n');
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write('some keys\r');
  await session.printed('got some keys\r\n');
  await expectRestored(session, 7);
});

shown('bytes reach the screen as the program sent them', async () => {
  const session = watched('stty -opost; printf "a\\nb\\r\\n"; stty opost');
  await session.printed('a\nb\r\n');
  await expectRestored(session, 0);
});

shown('Ctrl-C is for the program', async () => {
  const session = watched('trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.1; done');
  await session.printed('ready\r\n');
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write('\x03');
  await session.printed('caught\r\n');
  await expectRestored(session, 9);
});

shown('Ctrl-C that ends the program ends us in the same way', async () => {
  const session = watched('echo ready; exec sleep 1000');
  await session.printed('ready\r\n');
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write('\x03');
  await expectRestored(session, 130);
});

shown('the program has the size of our terminal, and hears when it changes', async () => {
  const session = watched('trap "stty size" WINCH; stty size; echo ready; while :; do sleep 0.05; done');
  await session.printed('24 80\r\nready\r\n');
  session.pty.resize(101, 33);
  await session.printed('33 101\r\n');
});

for (const [signal, code] of [['SIGTERM', 143], ['SIGHUP', 129], ['SIGINT', 130], ['SIGQUIT', 131]] as const) {
  shown(`${signal} ends the program, then us, with the terminal restored`, async () => {
    const session = watched('echo ready; exec sleep 1000');
    await session.printed('ready\r\n');
    await until('the terminal is raw', () => isRaw(session));
    process.kill(await cliBelow(session.pty.pid), signal);
    await expectRestored(session, code);
  });
}

for (const [signal, code] of [['SIGABRT', 134], ['SIGXCPU', 152], ['SIGVTALRM', 154], ['SIGIO', 157]] as const) {
  shown(`${signal}, which is for us, ends the session, then us, with the terminal restored`, async () => {
    const lifeline = new Lifeline();
    const flags = ['--env', `LIFELINE=${lifeline.path}`, '--write', lifeline.path];
    const session = watched('exec 9> "$LIFELINE"; echo ready; exec sleep 1000', {}, ...flags);
    await session.printed('ready\r\n');
    await until('the terminal is raw', () => isRaw(session));
    process.kill(await cliBelow(session.pty.pid), signal);
    await expectRestored(session, code);
    await lifeline.cut();
  });
}

shown('SIGTERM is the program\'s to handle', async () => {
  const session = watched('trap "echo tidy; exit 4" TERM; echo ready; while :; do sleep 0.05; done');
  await session.printed('ready\r\n');
  process.kill(await cliBelow(session.pty.pid), 'SIGTERM');
  await session.printed('tidy\r\n');
  await expectRestored(session, 4);
});

for (const signal of ['USR1', 'USR2', 'ALRM']) {
  shown(`SIG${signal} is passed on, and means nothing else to us`, async () => {
    const session = watched(`trap "echo heard; exit 3" ${signal}; echo ready; while :; do sleep 0.05; done`);
    await session.printed('ready\r\n');
    await until('the terminal is raw', () => isRaw(session));
    process.kill(await cliBelow(session.pty.pid), `SIG${signal}`);
    await session.printed('ready\r\nheard\r\n');
    await expectRestored(session, 3);
  });
}

shown('an error of ours that nobody caught restores the terminal, and ends the session', async () => {
  const lifeline = new Lifeline();
  const env = { ...preload("process.on('SIGWINCH', () => { throw new Error('on purpose'); });"), LIFELINE: lifeline.path };
  const session = watched('exec 9> "$LIFELINE"; echo ready; sleep 1000', { env }, '--env', 'LIFELINE', '--write', lifeline.path);
  await session.printed('ready\r\n');
  await until('the terminal is raw', () => isRaw(session));
  session.pty.resize(90, 30);
  await session.printed('Error: on purpose');
  await expectRestored(session, 125);
  await lifeline.cut();
});

shown('a timeout restores it, too', async () => {
  const session = watched('echo ready; trap "" HUP; exec sleep 1000', {}, '--timeout', '2s');
  await session.printed('ready\r\n');
  await expectRestored(session, 124);
});

shown('a program that cannot be started never takes the terminal', async () => {
  const session = inTerminal(`stty -g; ${command('run', '--', '/nonexistent')}; echo code $?; stty -g`);
  await session.exit();
  const lines = session.output.split('\r\n');
  expect(session.output).toContain('code 127\r\n');
  expect(lines.at(-2)).toBe(lines[0]);
});

const script: Need = { met: fs.existsSync('/usr/bin/script'), reason: 'needs script(1)' };

shown.needing(script)('a closed terminal ends the session, and us by SIGHUP', async () => {
  const lifeline = new Lifeline();
  const file = path.join(temporaryDirectory(), 'end');
  const program = 'trap "" HUP; exec 9> "$LIFELINE"; echo ready; while :; do sleep 1; done';
  const flags = ['--env', `LIFELINE=${lifeline.path}`, '--write', lifeline.path];
  const inner = `trap "" HUP; ${command('run', ...flags, '--', 'sh', '-c', program)}; echo $? > ${file}.new; mv ${file}.new ${file}`;
  const session = inTerminal(`script -qfc ${quote(inner)} /dev/null; sleep 1000`, { env: { SHELL: '/bin/sh' } });
  await session.printed('ready\r\n');
  // Whoever holds the other end of that terminal is gone without a word.
  for (const pid of children(session.pty.pid)) process.kill(pid, 'SIGKILL');
  await lifeline.cut();
  await until('the end is known', () => fs.existsSync(file));
  expect(fs.readFileSync(file, 'utf8')).toBe('129\n');
});

// ---- job control ----------------------------------------------------------------------------------------------------

const reader = 'echo ready; read x; echo "got $x"';

shown('Ctrl-Z stops the whole thing, and fg continues it', async () => {
  const session = await interactiveShell();
  session.pty.write(`${command('run', '--', 'sh', '-c', `echo pid $$; ${reader}`)}\r`);
  const pid = Number(/pid (\d+)\r\n/.exec(await session.printed('\r\nready\r\n'))?.[1]);
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write('\x1a');
  await session.printed('Stopped');
  await until('the program is stopped', () => stat(pid).state === 'T');
  session.pty.write('stty -a; echo shell works\r');
  const output = await session.printed('\r\nshell works\r\n');
  expect(output).toMatch(/[^-]icanon/);
  expect(output).toMatch(/[^-]opost/);
  session.pty.write('fg\r');
  await until('the program runs', () => stat(pid).state !== 'T');
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write('again\r');
  await session.printed('got again\r\n> ');
  session.pty.write('echo code $?\r');
  await session.printed('code 0\r\n');
});

shown('a stop from outside does the same', async () => {
  const session = await interactiveShell();
  session.pty.write(`${command('run', '--', 'sh', '-c', `echo pid $$; ${reader}`)}\r`);
  const pid = Number(/pid (\d+)\r\n/.exec(await session.printed('\r\nready\r\n'))?.[1]);
  await until('the terminal is raw', () => isRaw(session));
  process.kill(await cliBelow(session.pty.pid), 'SIGTSTP');
  await session.printed('Stopped');
  await until('the program is stopped', () => stat(pid).state === 'T');
  session.pty.write('fg\r');
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write('x\r');
  await session.printed('got x\r\n');
});

shown('in the background it runs without the terminal, and takes it when it comes to the foreground', async () => {
  const session = await interactiveShell();
  session.pty.write(`${command('run', '--', 'sh', '-c', reader)} &\r`);
  await session.printed('ready\r\n');
  session.pty.write('jobs; echo listed\r');
  expect(await session.printed('\r\nlisted\r\n')).toContain('Running');
  session.pty.write('fg\r');
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write('there\r');
  await session.printed('got there\r\n');
});

shown('a shell inside keeps its own job control', async () => {
  const session = inTerminal(command('shell'), { env: { SHELL: '/bin/bash', TERM: 'dumb' } });
  await until('the prompt is there', () => /[$#] $/.test(session.output));
  await until('the terminal is raw', () => isRaw(session));
  session.pty.write(`sh -c 'echo "job" runs; exec sleep 1000'\r`);
  await session.printed('job runs\r\n');
  session.pty.write('\x1a');
  await session.printed('Stopped');
  expect(stat(await cliBelow(session.pty.pid)).state).not.toBe('T');
  session.pty.write('kill %1; exit 5\r');
  session.pty.write('exit 5\r');
  expect((await session.exit()).exitCode).toBe(5);
});
