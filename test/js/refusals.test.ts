// Nonsense is refused before anything is started. node-pty passes it on: some of it kills the host.
import { better, contract, host, load, ours, refusal, script } from './support';

better('an argument that is not a string is a TypeError, and the host lives on', async () => {
  const end = await host((pty, kernel) => {
    const before = kernel.children().length;
    const values = [5, null, undefined, {}, [], true, Symbol.iterator, Buffer.from('x'), new String('x')];
    const names = [...values.map((value) => ['-c', value]), new Array(2)].map((args) => {
      try {
        pty.spawn('sh', args, {});
        return 'accepted';
      } catch (error) {
        return (error as Error).name;
      }
    });
    return { names: [...new Set(names)], started: kernel.children().length - before };
  });
  expect(end).toMatchObject({ code: 0, signal: null, result: { names: ['TypeError'], started: 0 } });
});

const withNul: ReadonlyArray<readonly [what: string, file: string, args: string[], options: object]> = [
  ['the file', 's\0h', [], {}],
  ['an argument', 'sh', ['-c', 'exit\0 1'], {}],
  ['the value of a variable', 'sh', [], { env: { A: 'b\0c' } }],
  ['the name of a variable', 'sh', [], { env: { 'A\0B': 'c' } }],
  ['the working directory', 'sh', [], { cwd: '/\0x' }],
  ['the terminal name', 'sh', [], { name: 'xterm\0' }],
];

for (const [what, file, args, options] of withNul) {
  better(`a NUL byte in ${what} is a TypeError`, () => {
    const error = refusal(() => load().spawn(file, args, options));
    expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
  });
}

better('an unknown encoding is a TypeError', () => {
  const error = refusal(() => load().spawn('sh', [], { encoding: 'morse' }));
  expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_UNKNOWN_ENCODING' });
});

for (const size of [Infinity, -Infinity, -1, -80, 65536, 70000, 1e9, Number.MAX_VALUE]) {
  better(`a size of ${size} is a RangeError, as columns and as rows`, () => {
    expect(refusal(() => load().spawn('sh', [], { cols: size })).name).toBe('RangeError');
    expect(refusal(() => load().spawn('sh', [], { rows: size })).name).toBe('RangeError');
  });
}

contract('a size that fits after truncation is accepted', async () => {
  const session = script('stty size', { cols: 65535.9, rows: 65535.9 });
  await session.exit();
  expect(session.output).toBe('65535 65535\r\n');
});

better('open refuses bad sizes and encodings like spawn', () => {
  expect(refusal(() => load().open({ cols: -1 })).name).toBe('RangeError');
  expect(refusal(() => load().open({ rows: 65536 })).name).toBe('RangeError');
  expect(refusal(() => load().open({ encoding: 'morse' })).name).toBe('TypeError');
});

ours('createSandboxedPty refuses the same nonsense', () => {
  const { createSandboxedPty } = load();
  expect(refusal(() => createSandboxedPty({ file: 'sh', args: [5] })).name).toBe('TypeError');
  expect(refusal(() => createSandboxedPty({ file: 's\0h' }))).toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  expect(refusal(() => createSandboxedPty({ file: 'sh', encoding: 'morse' }))).toMatchObject({ code: 'ERR_UNKNOWN_ENCODING' });
  expect(refusal(() => createSandboxedPty({ file: 'sh', cols: Infinity })).name).toBe('RangeError');
  expect(refusal(() => createSandboxedPty({ file: 'sh', cols: '80' })).message).toBe('cols must be a number (not a string)');
});

better('a refusal leaves the next spawn unharmed', async () => {
  refusal(() => load().spawn('sh', ['\0'], {}));
  const session = script('echo fine');
  await session.exit();
  expect(session.output).toBe('fine\r\n');
});
