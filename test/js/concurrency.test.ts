import { better, contract, script, start, type Session } from './support';

contract('100 sessions at once keep their outputs and exit codes apart', async () => {
  const sessions = Array.from({ length: 100 }, (_, i) => script('echo "session $1"; exit "$1"', {}, String(i)));
  const exits = await Promise.all(sessions.map((session) => session.exit()));
  expect(new Set(sessions.map(({ pty }) => pty.pid)).size).toBe(100);
  expect(new Set(sessions.map(({ pty }) => pty.ptsName)).size).toBeGreaterThan(1);
  sessions.forEach((session, i) => {
    expect(session.output).toBe(`session ${i}\r\n`);
    expect(exits[i]).toEqual({ exitCode: i, signal: 0 });
  });
});

better('100 sessions at once lose nothing of longer outputs', async () => {
  const sessions = Array.from({ length: 100 }, (_, i) => start('seq', [String(i * 10_000), String(i * 10_000 + 2000)]));
  await Promise.all(sessions.map((session) => session.exit()));
  const whole = sessions.filter((session, i) => session.output === Array.from({ length: 2001 }, (_, k) => `${i * 10_000 + k}\r\n`).join(''));
  expect(whole.length).toBe(100);
});

contract('50 sessions answer to their own input', async () => {
  const sessions: Session[] = Array.from({ length: 50 }, () => script('stty -echo; echo ready; read line; echo "<$line>"; read line'));
  await Promise.all(sessions.map((session) => session.printed('ready')));
  sessions.forEach((session, i) => session.pty.write(`for ${i}\r`));
  await Promise.all(sessions.map((session, i) => session.printed(`<for ${i}>`)));
});

contract('sessions that start while others end do not meet', async () => {
  const outputs: string[] = [];
  for (let round = 0; round < 10; round++) {
    const batch = Array.from({ length: 8 }, (_, i) => script('echo "$1"', {}, `${round}-${i}`));
    const next = script('echo "$1"; read line', {}, `${round}-long`);
    await Promise.all(batch.map((session) => session.exit()));
    outputs.push(...batch.map(({ output }) => output.trim()));
    await next.printed(`${round}-long`);
    next.pty.kill('SIGKILL');
    await next.exit();
  }
  expect(outputs).toEqual(Array.from({ length: 80 }, (_, n) => `${Math.floor(n / 8)}-${n % 8}`));
});
