// The shells that people use, interactively.
import { spawnSync } from 'node:child_process';
import { contract, start, temporaryDirectory, type Need, type Session } from './support';

const shells: ReadonlyArray<readonly [name: string, args: string[]]> = [
  ['sh', ['-i']],
  ['dash', ['-i']],
  ['bash', ['--norc', '--noprofile', '-i']],
  ['zsh', ['-f', '-i']],
  ['fish', ['--no-config', '-i', '-C', 'function fish_prompt; echo -n "prompt> "; end']],
];

function installed(name: string): Need {
  return { met: spawnSync(name, ['-c', 'true']).status === 0, reason: `needs ${name}` };
}

function interactive(name: string, args: string[]): Session {
  const home = temporaryDirectory();
  const env = { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, LANG: 'C.UTF-8', PS1: 'prompt> ' };
  const session = start(name, args, { cwd: home, env, name: 'xterm' });
  // Some shells ask the terminal what it is before they begin.
  let answered = 0;
  session.pty.onData(() => {
    const asked = session.output.split('\x1b[c').length - 1 + session.output.split('\x1b[0c').length - 1;
    for (; answered < asked; answered++) session.pty.write('\x1b[?6c');
  });
  return session;
}

/** Types a line at the next prompt: what is typed while a shell is busy may be thrown away. */
async function type(session: Session, line: string): Promise<void> {
  await session.printed('prompt> ', (typed.get(session) ?? 0) + 1);
  typed.set(session, session.output.split('prompt> ').length - 1);
  session.pty.write(`${line}\r`);
}

/** How many prompts a session had shown when the last line was typed. */
const typed = new WeakMap<Session, number>();

for (const [name, args] of shells) {
  const shell = contract.needing(installed(name));

  shell(`${name} runs what is typed and ends with its exit code`, async () => {
    const session = interactive(name, args);
    await type(session, "printf '%s-%s\\n' left right");
    await session.printed('left-right');
    await type(session, 'exit 7');
    expect(await session.exit()).toEqual({ exitCode: 7, signal: 0 });
  });

  shell(`${name} has job control: ^C ends the job and not the shell`, async () => {
    const session = interactive(name, args);
    await type(session, "printf '%s-%s\\n' be gin; cat");
    await session.printed('be-gin');
    session.pty.write('to the job\r');
    await session.printed('to the job', 2);
    expect(session.pty.process).toBe('cat');
    session.pty.write('\x03');
    await type(session, "printf '%s-%s\\n' af ter");
    await session.printed('af-ter');
    await type(session, 'exit 0');
    expect((await session.exit()).exitCode).toBe(0);
  });
}
