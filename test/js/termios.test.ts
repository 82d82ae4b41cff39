import { contract, linux, run, script } from './support';

/** The settings by name: flags as true or false, characters and numbers as stty writes them. */
async function settings(options: object = {}): Promise<Map<string, string | boolean>> {
  const { output } = await run('stty', ['-a'], options);
  const found = new Map<string, string | boolean>();
  for (const [, name, value] of output.matchAll(/(\w+) = ([^;]+);/g)) found.set(name as string, value as string);
  for (const word of output.replace(/[\w ]+= [^;]+;/g, '').split(/\s+/)) found.set(word.replace(/^-/, ''), !word.startsWith('-'));
  found.set('speed', /speed (\d+) baud/.exec(output)?.[1] ?? '');
  return found;
}

const on = ['icrnl', 'ixon', 'ixany', 'imaxbel', 'brkint', 'iutf8', 'opost', 'onlcr', 'cread', 'cs8', 'hupcl'];
const local = ['icanon', 'isig', 'iexten', 'echo', 'echoe', 'echok', 'echoke', 'echoctl'];
const off = ['ignbrk', 'ignpar', 'parmrk', 'inpck', 'istrip', 'inlcr', 'igncr', 'ixoff', 'echonl', 'noflsh', 'tostop', 'parenb', 'clocal'];

const characters = {
  intr: '^C', quit: '^\\', erase: '^?', kill: '^U', eof: '^D', start: '^Q', stop: '^S', susp: '^Z',
  rprnt: '^R', werase: '^W', lnext: '^V', discard: '^O', eol: 'M-^?', eol2: 'M-^?', min: '1', time: '0',
};

contract('the terminal starts in the usual line mode', async () => {
  const found = await settings();
  expect(Object.fromEntries([...on, ...local].map((flag) => [flag, found.get(flag)]))).toEqual(
    Object.fromEntries([...on, ...local].map((flag) => [flag, true])),
  );
  expect(Object.fromEntries(off.map((flag) => [flag, found.get(flag)]))).toEqual(Object.fromEntries(off.map((flag) => [flag, false])));
  expect(found.get('speed')).toBe('38400');
});

contract('the control characters are the usual ones', async () => {
  const found = await settings();
  expect(Object.fromEntries(Object.keys(characters).map((name) => [name, found.get(name)]))).toEqual(characters);
});

contract.needing(linux)('no other flag is set', async () => {
  // BRKINT ICRNL IXON IXANY IMAXBEL IUTF8; OPOST ONLCR; B38400 CS8 CREAD HUPCL;
  // ISIG ICANON ECHO ECHOE ECHOK ECHOCTL ECHOKE IEXTEN
  expect((await run('stty', ['-g'])).output).toMatch(/^6d02:5:4bf:8a3b:/);
});

for (const [encoding, utf8] of [
  ['utf8', true],
  [undefined, true],
  ['utf-8', false],
  ['latin1', false],
  ['', false],
] as const) {
  contract(`with encoding ${JSON.stringify(encoding)} the line editor does ${utf8 ? '' : 'not '}know UTF-8`, async () => {
    expect((await settings({ encoding })).get('iutf8')).toBe(utf8);
  });
}

contract('with Buffers the line editor does not know UTF-8', async () => {
  const session = script('stty -a', { encoding: null });
  await session.exit();
  expect(Buffer.concat(session.chunks as Buffer[]).toString()).toContain('-iutf8');
});

for (const [key, what, exit] of [
  ['\x03', '^C interrupts', { exitCode: 0, signal: 2 }],
  ['\x1c', '^\\ quits', { exitCode: 0, signal: 3 }],
  ['\x04', '^D ends the input', { exitCode: 7, signal: 0 }],
] as const) {
  contract(what, async () => {
    const session = script('ulimit -c 0; echo ready; read line; exit 7');
    await session.printed('ready');
    session.pty.write(key);
    expect(await session.exit()).toEqual(exit);
  });
}

contract('^Z stops a job and the shell takes over', async () => {
  const session = script('set -m; cat; echo "status $?."; read line');
  session.pty.write('here\r');
  await session.printed('here', 2);
  session.pty.write('\x1a');
  await session.printed('status 148.'); // 128 plus the number of SIGTSTP
});
