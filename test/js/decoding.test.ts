import { better, contract, script, start } from './support';

/** Prints its arguments as bytes (printf escapes), in raw mode; a line is awaited before each but the first. */
const pieces = 'stty raw -echo; for piece; do printf "$piece"; read line; done; printf .; read line';
const bytes = 'stty raw -echo; printf "$1"; read line';

contract('characters that are split over chunks come whole', async () => {
  const session = script(pieces, {}, 'a\\342', '\\202\\254b', '\\360\\237', '\\230\\200c', '\\360', '\\237\\230', '\\200d\\303', '\\251');
  await session.printed('a'); // so its first third has come, in a chunk of its own
  session.pty.write('\n');
  await session.printed('b');
  for (let i = 0; i < 7; i++) session.pty.write('\n');
  expect(await session.printed('.')).toBe('a€b😀c😀dé.');
  expect(session.chunks.length).toBeGreaterThan(1);
});

contract('a long text of characters of every length comes unharmed', async () => {
  const text = 'aé€😀'.repeat(20_000);
  const session = script('stty raw -echo; i=0; while [ $i -lt 200 ]; do printf %s "$1"; i=$((i + 1)); done; printf .; read line', {}, 'aé€😀'.repeat(100));
  expect(await session.printed('.')).toBe(`${text}.`);
});

contract('bytes that are no UTF-8 become U+FFFD', async () => {
  const session = script(bytes, {}, 'a\\377b\\300\\257c\\355\\240\\200d.');
  expect(await session.printed('.')).toMatch(/^a\uFFFDb\uFFFD+c\uFFFD+d\.$/);
});

contract('a byte order mark is kept', async () => {
  const session = script(bytes, {}, '\\357\\273\\277x.');
  expect(await session.printed('.')).toBe('\uFEFFx.');
});

better('an incomplete character at the very end is told as U+FFFD', async () => {
  for (let i = 0; i < 30; i++) {
    const session = script('printf "x\\342\\202"');
    await session.exit();
    expect(session.output).toMatch(/^x\uFFFD+$/);
  }
});

contract('with encoding null chunks are Buffers with the very bytes', async () => {
  const all = Array.from({ length: 256 }, (_, i) => i);
  const escapes = all.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  const session = script('stty raw -echo; printf "$1"', { encoding: null }, escapes);
  await session.exit();
  expect(session.chunks.every((chunk) => Buffer.isBuffer(chunk))).toBe(true);
  expect([...Buffer.concat(session.chunks as Buffer[])]).toEqual(all);
});

contract('latin1, hex and base64 are decoded as Buffer does', async () => {
  const data = Buffer.from([0x61, 0xe9, 0xff, 0x80, 0x7f, 0x2e]);
  for (const encoding of ['latin1', 'binary', 'hex', 'base64', 'ascii', 'HEX'] as const) {
    const session = script('stty raw -echo; printf "a\\351\\377\\200\\177."', { encoding });
    await session.exit();
    expect([encoding, session.output]).toEqual([encoding, data.toString(encoding.toLowerCase() as BufferEncoding)]);
  }
});

contract('UTF-16 units that are split over chunks come whole', async () => {
  const session = script(pieces.replace('printf .', 'printf ".\\000"'), { encoding: 'utf16le' }, 'a\\000b', '\\000c\\000');
  await session.printed('a');
  session.pty.write(Buffer.from('\n\n'));
  expect(await session.printed('.')).toBe('abc.');
});

contract('base64 over several chunks is one base64 text', async () => {
  const session = script(pieces.replace('printf .', 'printf "......"'), { encoding: 'base64' }, 'abcd', 'ef');
  await session.printed('YWJj');
  session.pty.write(Buffer.from('\n\n'));
  expect(await session.printed(Buffer.from('...').toString('base64'))).toBe(Buffer.from('abcdef...').toString('base64'));
});

better('base64 at the very end is padded, not cut', async () => {
  for (const text of ['abcd', 'abcde', 'a']) {
    const session = script('stty raw -echo; printf %s "$1"', { encoding: 'base64' }, text);
    await session.exit();
    expect([text, session.output]).toEqual([text, Buffer.from(text).toString('base64')]);
  }
});

contract('an empty encoding gives strings', async () => {
  const session = script(bytes, { encoding: '' }, 'a\\303\\251.');
  expect(await session.printed('.')).toBe('aé.');
});

contract('setEncoding changes what the following chunks are', async () => {
  const session = script(pieces, {}, 'one', 'two', 'three');
  await session.printed('one');
  session.pty.setEncoding('hex');
  session.pty.write('\n');
  await session.printed(Buffer.from('two').toString('hex'));
  session.pty.setEncoding('utf8');
  session.pty.write('\n');
  await session.printed('three');
});

contract('setEncoding without an encoding changes nothing', async () => {
  const session = start('sh', ['-c', "printf '\\377\\376abc'; read line"], { encoding: null });
  session.pty.setEncoding(null);
  const chunk = await new Promise((resolve) => session.pty.onData(resolve));
  expect(Buffer.isBuffer(chunk)).toBe(true);
});

contract('setEncoding is about output: input keeps the encoding of the options', async () => {
  const session = start('sh', ['-c', 'stty raw -echo; echo ready; head -c 2 | od -An -tx1'], { encoding: 'latin1' });
  await session.printed('ready');
  session.pty.setEncoding('utf8');
  session.pty.write('éé');
  await session.printed('e9 e9');
});

contract('setEncoding refuses what is no encoding', () => {
  const session = script('read line');
  let code: unknown;
  try {
    session.pty.setEncoding('morse');
  } catch (error) {
    code = (error as NodeJS.ErrnoException).code;
  }
  expect(code).toBe('ERR_UNKNOWN_ENCODING');
});
