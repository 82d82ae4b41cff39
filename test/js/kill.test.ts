import { better, contract, linux, resultOf, root, script, start } from './support';

contract('kill sends SIGHUP', async () => {
  const session = script('echo ready; read line');
  await session.printed('ready');
  expect(session.pty.kill()).toBeUndefined();
  expect(await session.exit()).toEqual({ exitCode: 0, signal: 1 });
});

for (const [name, number] of [['SIGTERM', 15], ['SIGKILL', 9], ['SIGINT', 2], ['SIGUSR2', 12]] as const) {
  contract(`kill with ${name} ends the child with signal ${number}`, async () => {
    const session = start('cat', []);
    session.pty.write('ready\r');
    await session.printed('ready', 2);
    session.pty.kill(name);
    expect(await session.exit()).toEqual({ exitCode: 0, signal: number });
  });
}

contract('a signal that the child handles is its own affair', async () => {
  const session = script('trap "echo got it; exit 9" TERM; echo ready; while :; do read line; done');
  await session.printed('ready');
  session.pty.kill('SIGTERM');
  session.pty.write('\r');
  expect(await session.exit()).toEqual({ exitCode: 9, signal: 0 });
  expect(session.output).toContain('got it');
});

contract('names that are no signals are ignored', async () => {
  const session = script('stty -echo; echo ready; read line; echo "<$line>"');
  await session.printed('ready');
  for (const name of ['SIGNOTHING', 'nonsense', 'sigterm', 'TERM']) expect(session.pty.kill(name)).toBeUndefined();
  session.pty.write('alive\r');
  await session.printed('<alive>');
});

for (const [name, value] of [['0', 0], ['NaN', NaN], ['null', null], ['an empty string', '']] as const) {
  contract(`kill with ${name} means SIGHUP`, async () => {
    const session = script('trap "echo hung up" HUP; stty -echo; echo ready; while :; do read line; done');
    await session.printed('ready');
    session.pty.kill(value as unknown as string);
    session.pty.write('\r');
    await session.printed('hung up');
  });
}

contract('numbers that are no signals are ignored', async () => {
  const session = script('stty -echo; echo ready; read line; echo "<$line>"');
  await session.printed('ready');
  for (const number of [-9, -1, 65, 1000, 2 ** 32, 0.5]) {
    expect(session.pty.kill(number as unknown as string)).toBeUndefined();
  }
  session.pty.write('alive\r');
  await session.printed('<alive>');
});

contract('kill signals the leader and not its children', async () => {
  const session = script('stty -echo; trap "echo got it" TERM; echo ready; cat; echo after; while read line; do :; done');
  await session.printed('ready');
  session.pty.write('one\r');
  await session.printed('one');
  session.pty.kill('SIGTERM');
  session.pty.write('two\r');
  await session.printed('two'); // cat still copies
  session.pty.write('\x04');
  await session.printed('after');
  await session.printed('got it');
});

contract('after the exit kill does nothing and does not throw', async () => {
  const session = script('exit 4');
  await session.exit();
  expect(session.pty.kill()).toBeUndefined();
  expect(session.pty.kill('SIGKILL')).toBeUndefined();
  expect(session.pty.kill('nonsense')).toBeUndefined();
  expect(session.exits).toEqual([{ exitCode: 4, signal: 0 }]);
});

contract('a kill right after spawn ends the session', async () => {
  const session = script('read line');
  session.pty.kill('SIGKILL');
  expect(await session.exit()).toEqual({ exitCode: 0, signal: 9 });
});

better.needing(linux, root)('kill and destroy never signal a stranger that got the pid of the ended child', async () => {
  const outcome = await resultOf(async (pty) => {
    const fs = require('node:fs');
    const { spawn } = require('node:child_process');
    const ended = (child: any): Promise<string> => new Promise((resolve) => child.once('close', (code: number, signal: string) => resolve(signal ?? `code ${code}`)));
    for (let attempt = 0; attempt < 200; attempt++) {
      const term = pty.spawn('true', [], {});
      await new Promise((resolve) => term.onExit(resolve));
      fs.writeFileSync('/proc/sys/kernel/ns_last_pid', String(term.pid - 1));
      const stranger = spawn('cat');
      const end = ended(stranger);
      if (stranger.pid === term.pid) {
        const answer = new Promise<string>((resolve) => stranger.stdout.once('data', (data: Buffer) => resolve(data.toString())));
        stranger.stdin.write('started'); // cat runs now, with the default effect of every signal
        await answer;
        term.kill();
        term.kill('SIGKILL');
        term.destroy();
      }
      stranger.stdin.end();
      const how = await end;
      if (stranger.pid === term.pid) return how;
    }
    return 'the pid was never given again';
  });
  expect(outcome).toBe('code 0');
});
