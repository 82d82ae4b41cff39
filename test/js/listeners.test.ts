// The untyped EventEmitter-like members that older clients use.
import { better, contract, load, script, track } from './support';

contract('on, once, addListener, removeListener and removeAllListeners return undefined', () => {
  const { pty } = script('read line');
  const listener = (): void => {};
  expect(pty.on('data', listener)).toBeUndefined();
  expect(pty.once('data', listener)).toBeUndefined();
  expect(pty.addListener('exit', listener)).toBeUndefined();
  expect(pty.removeListener('data', listener)).toBeUndefined();
  expect(pty.removeAllListeners('custom')).toBeUndefined();
});

contract('data reaches on, addListener and, the first chunk only, once', async () => {
  const pty = load().spawn('sh', ['-c', 'stty -echo; echo one; read line; echo two; read line'], {});
  const seen: Record<string, string[]> = { on: [], addListener: [], once: [] };
  pty.on('data', (data) => seen['on']?.push(data));
  pty.addListener('data', (data) => seen['addListener']?.push(data));
  pty.once('data', (data) => seen['once']?.push(data));
  const session = track(pty);
  await session.printed('one');
  pty.write('\r');
  await session.printed('two');
  expect(seen['on']).toEqual(session.chunks);
  expect(seen['addListener']).toEqual(session.chunks);
  expect(seen['once']).toEqual(session.chunks.slice(0, 1));
});

contract('removeListener ends the calls', async () => {
  const session = script('stty -echo; echo one; read line; echo two; read line');
  const seen: string[] = [];
  const listener = (data: string): void => void seen.push(data);
  session.pty.on('data', listener);
  await session.printed('one');
  session.pty.removeListener('data', listener);
  const before = [...seen];
  session.pty.write('\r');
  await session.printed('two');
  expect(seen).toEqual(before);
});

contract('listeners lists what on added', () => {
  const { pty } = script('read line');
  const listener = (): void => {};
  pty.on('data', listener);
  expect(pty.listeners('data')).toContain(listener);
  pty.removeListener('data', listener);
  expect(pty.listeners('data')).not.toContain(listener);
  expect(pty.listeners('nothing')).toEqual([]);
});

contract('emit calls the listeners with its arguments and says whether there were any', () => {
  const { pty } = script('read line');
  const calls: unknown[][] = [];
  pty.on('custom', (...args) => calls.push(args));
  expect(pty.emit('custom', 1, 'two')).toBe(true);
  expect(pty.emit('unheard')).toBe(false);
  expect(calls).toEqual([[1, 'two']]);
});

contract('the exit event has two arguments: code and signal number', async () => {
  for (const [end, expected] of [
    ['exit 5', [5, 0]],
    ['kill -KILL $$', [0, 9]],
  ] as const) {
    const session = script(end);
    const args = await new Promise((resolve) => session.pty.on('exit', (...given) => resolve(given)));
    expect(args).toEqual(expected);
  }
});

contract('once for the exit event is enough', async () => {
  const session = script('exit 0');
  let calls = 0;
  session.pty.once('exit', () => calls++);
  await session.exit();
  await script('exit 0').exit();
  expect(calls).toBe(1);
});

contract('close comes before exit, and each comes once', async () => {
  const session = script('echo output');
  const order: string[] = [];
  session.pty.on('close', () => order.push('close'));
  const exited = new Promise<void>((resolve) => {
    session.pty.on('exit', () => {
      order.push('exit');
      resolve();
    });
  });
  await exited;
  await script('exit 0').exit();
  expect(order).toEqual(['close', 'exit']);
});

contract('all data comes before close', async () => {
  const session = script('echo output');
  const order: string[] = [];
  session.pty.on('data', () => order.push('data'));
  session.pty.on('close', () => order.push('close'));
  await session.exit();
  expect(order.indexOf('close')).toBe(order.length - 1);
  expect(order[0]).toBe('data');
});

contract('removeAllListeners for exit silences the exit listeners, as clients do before kill', async () => {
  const session = script('read line');
  let calls = 0;
  session.pty.on('exit', () => calls++);
  const closed = new Promise<void>((resolve) => session.pty.on('close', () => resolve()));
  session.pty.removeAllListeners('exit');
  session.pty.kill();
  await closed;
  await script('exit 0').exit();
  expect(calls).toBe(0);
  if (session.exits.length === 0) session.exits.push({ exitCode: 0, signal: 1 }); // node-pty silences onExit with it
});

better('a close listener can be removed', async () => {
  const session = script('exit 0');
  let calls = 0;
  const listener = (): void => void calls++;
  session.pty.on('close', listener);
  session.pty.removeListener('close', listener);
  await session.exit();
  expect(calls).toBe(0);
});

better('listeners lists close listeners too', () => {
  const { pty } = script('read line');
  const listener = (): void => {};
  pty.on('close', listener);
  expect(pty.listeners('close')).toEqual([listener]);
});

better('once for the close event works, before the exit', async () => {
  const session = script('exit 0');
  const order: string[] = [];
  session.pty.once('close', () => order.push('close'));
  session.pty.onExit(() => order.push('exit'));
  await session.exit();
  expect(order).toEqual(['close', 'exit']);
});

better('no error event tells of a normal end', async () => {
  for (let i = 0; i < 20; i++) {
    const session = script('echo output');
    const errors: unknown[] = [];
    session.pty.on('error', (error) => errors.push(error));
    await session.exit();
    expect(errors).toEqual([]);
  }
});

better('no error event tells of a killed child or a destroyed terminal', async () => {
  for (const end of ['kill', 'destroy'] as const) {
    const session = script('echo ready; read line');
    const errors: unknown[] = [];
    session.pty.on('error', (error) => errors.push(error));
    await session.printed('ready');
    session.pty[end]();
    await session.exit();
    expect(errors).toEqual([]);
  }
});
