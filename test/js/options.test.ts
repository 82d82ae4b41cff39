import { contract, load, refusal, run, script, start, temporaryDirectory } from './support';

const typeChecks: ReadonlyArray<readonly [option: string, wrong: unknown, message: string]> = [
  ['name', 5, 'name must be a string (not a number)'],
  ['cols', '80', 'cols must be a number (not a string)'],
  ['rows', {}, 'rows must be a number (not a object)'],
  ['cwd', 5, 'cwd must be a string (not a number)'],
  ['env', 'A=1', 'env must be a object (not a string)'],
  ['uid', '0', 'uid must be a number (not a string)'],
  ['gid', true, 'gid must be a number (not a boolean)'],
  ['encoding', Symbol.iterator, 'encoding must be a string (not a symbol)'],
];

for (const [option, wrong, message] of typeChecks) {
  contract(`${option} of the wrong type is refused with "${message}"`, () => {
    expect(refusal(() => load().spawn('sh', [], { [option]: wrong })).message).toBe(message);
  });
}

contract('options are checked in the order name, cols, rows, cwd, env, uid, gid, encoding', () => {
  const options: Record<string, unknown> = Object.fromEntries(typeChecks.map(([option, wrong]) => [option, wrong]).reverse());
  for (const [option, , message] of typeChecks) {
    expect(refusal(() => load().spawn('sh', [], options)).message).toBe(message);
    delete options[option];
  }
});

contract('falsy values of the wrong type count as absent', async () => {
  const session = script('stty size; echo "$NODE_ENV"', { name: 0, cols: '', rows: false, cwd: 0, env: '', encoding: '' });
  await session.exit();
  expect(session.output).toBe(`24 80\r\n${process.env['NODE_ENV']}\r\n`);
});

contract('null counts as absent', async () => {
  const nothing = { name: null, cols: null, rows: null, cwd: null, env: null, uid: null, gid: null, handleFlowControl: null };
  const session = script('stty size; echo "$NODE_ENV"', { ...nothing, flowControlPause: null, flowControlResume: null });
  await session.exit();
  expect(session.output).toBe(`24 80\r\n${process.env['NODE_ENV']}\r\n`);
  const bare = start('sh', ['-c', 'exit 3'], null);
  expect((await bare.exit()).exitCode).toBe(3);
});

contract('options of other platforms and unknown ones are ignored', async () => {
  const options = { useConpty: true, useConptyDll: 'x', conptyInheritCursor: 1, surprise: {} };
  expect((await run('sh', ['-c', 'exit 6'], options)).exit.exitCode).toBe(6);
});

for (const absent of [undefined, null, 0, NaN]) {
  contract(`a size of ${absent} means 80 columns and 24 rows`, async () => {
    const session = script('stty size', { cols: absent, rows: absent });
    expect([session.pty.cols, session.pty.rows]).toEqual([80, 24]);
    await session.exit();
    expect(session.output).toBe('24 80\r\n');
  });
}

contract('the program finds the wanted size from its first instruction on', async () => {
  const session = script('stty size', { cols: 133, rows: 47 });
  expect([session.pty.cols, session.pty.rows]).toEqual([133, 47]);
  await session.exit();
  expect(session.output).toBe('47 133\r\n');
});

contract('a fractional size is kept as given and truncated for the kernel', async () => {
  const session = script('stty size', { cols: 80.9, rows: 24.2 });
  expect([session.pty.cols, session.pty.rows]).toEqual([80.9, 24.2]);
  await session.exit();
  expect(session.output).toBe('24 80\r\n');
});

contract('the largest size of a terminal is accepted', async () => {
  const session = script('stty size', { cols: 65535, rows: 65535 });
  await session.exit();
  expect(session.output).toBe('65535 65535\r\n');
});

contract('without env the options object gets process.env, as node-pty\'s callers expect', async () => {
  const options: { env?: NodeJS.ProcessEnv } = {};
  const session = script('exit 0', options);
  expect(options.env).toBe(process.env);
  await session.exit();
});

contract('the given env object is copied, never written', async () => {
  const env = Object.freeze({ PATH: process.env['PATH'], TERM: 'dumb', PWD: '/nowhere' });
  const session = script('echo "$TERM $PWD"', { env, name: 'vt220', cwd: '/' });
  await session.exit();
  expect(session.output).toBe('vt220 /\r\n');
});

contract('options may be left out altogether', async () => {
  const session = start('sh', ['-c', 'stty size']);
  await session.exit();
  expect(session.output).toBe('24 80\r\n');
});

for (const absent of [undefined, null, '', 0]) {
  contract(`a file of ${JSON.stringify(absent)} means sh`, async () => {
    const session = start(absent, ['-c', 'echo "$0"']);
    await session.exit();
    expect(session.output).toBe('sh\r\n');
  });
}

contract('spawn without any argument starts an interactive sh', async () => {
  const session = start();
  session.pty.write('echo $((40 + 2)); exit 5\r');
  expect(await session.exit()).toEqual({ exitCode: 5, signal: 0 });
  expect(session.output).toMatch(/\b42\r\n/);
});

for (const absent of [undefined, null, false, 0]) {
  contract(`arguments of ${absent} mean none`, async () => {
    const session = start('tty', absent);
    expect((await session.exit()).exitCode).toBe(0);
    expect(session.output).toBe(`${session.pty.ptsName}\r\n`);
  });
}

contract('arguments in one string are refused, also an empty one', () => {
  for (const args of ['-c true', '']) {
    expect(refusal(() => load().spawn('sh', args, {})).message).toBe('args as a string is not supported on unix.');
  }
});

contract('an args or file of another type is refused with the usage text', () => {
  const usage = 'Usage: pty.fork(file, args, env, cwd, cols, rows, uid, gid, utf8, helperPath, onexit)';
  for (const args of [5, true, {}, () => []]) {
    expect(refusal(() => load().spawn('sh', args, {})).message).toBe(usage);
  }
  for (const file of [5, true, {}, ['sh']]) {
    expect(refusal(() => load().spawn(file, [], {})).message).toBe(usage);
  }
});

contract('an empty cwd means the current directory', async () => {
  const session = script('pwd -P; echo "$PWD"', { cwd: '' });
  await session.exit();
  expect(session.output).toBe(`${process.cwd()}\r\n${process.cwd()}\r\n`);
});

contract('the working directory is the given one', async () => {
  const cwd = temporaryDirectory();
  const session = script('pwd -P', { cwd });
  await session.exit();
  expect(session.output).toBe(`${cwd}\r\n`);
});

contract('handleFlowControl is coerced to a boolean and stays writable', async () => {
  const session = script('read line', { handleFlowControl: 'yes' });
  expect(session.pty.handleFlowControl).toBe(true);
  session.pty.handleFlowControl = false;
  expect(session.pty.handleFlowControl).toBe(false);
  const other = script('exit 0', { handleFlowControl: 0 });
  expect(other.pty.handleFlowControl).toBe(false);
  await other.exit();
});
