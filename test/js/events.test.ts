// onData and onExit.
import { AsyncLocalStorage } from 'node:async_hooks';
import { contract, load, script, track, type Exit } from './support';

/** A child that prints what it is told, line by line. */
const parrot = 'stty -echo; echo ready; while read line; do echo "<$line>"; done';

contract('onData and onExit are the same functions on each access', () => {
  const { pty } = script('read line');
  expect(pty.onData).toBe(pty.onData);
  expect(pty.onExit).toBe(pty.onExit);
});

contract('a subscription has dispose, which may be called twice', async () => {
  const session = script(parrot);
  const seen: string[] = [];
  const subscription = session.pty.onData((data) => seen.push(data));
  await session.printed('ready');
  subscription.dispose();
  expect(subscription.dispose()).toBeUndefined();
  const before = seen.length;
  session.pty.write('more\r');
  await session.printed('<more>');
  expect(seen).toHaveLength(before);
});

contract('listeners are called in the order of their subscription, without this', async () => {
  const session = script(parrot);
  await session.printed('ready');
  const calls: unknown[] = [];
  session.pty.onData(function (this: unknown) {
    calls.push(['first', this]);
  });
  session.pty.onData(function (this: unknown) {
    calls.push(['second', this]);
  });
  session.pty.write('x\r');
  await session.printed('<x>');
  expect(calls.slice(0, 2)).toEqual([['first', undefined], ['second', undefined]]);
});

contract("onData comes before on('data'), 'close' before onExit, and onExit before on('exit')", async () => {
  const { pty } = script('echo text; exit 3');
  const order: string[] = [];
  const hear = (what: string): void => void (order.includes(what) || order.push(what));
  pty.on('error', () => {}); // node-pty's normal end
  const done = new Promise<void>((resolve) => pty.on('exit', () => (hear("on('exit')"), resolve())));
  pty.on('close', () => hear('close'));
  pty.on('data', () => hear("on('data')"));
  pty.onExit(() => hear('onExit'));
  pty.onData(() => hear('onData'));
  await done;
  expect(order).toEqual(['onData', "on('data')", 'close', 'onExit', "on('exit')"]);
});

contract('every listener gets the same chunks', async () => {
  const session = script(parrot);
  const others: string[] = [];
  session.pty.onData((data) => others.push(data));
  await session.printed('ready');
  session.pty.write('a\r');
  await session.printed('<a>');
  expect(others).toEqual(session.chunks);
});

contract('a listener that subscribes another does not have it called for the same chunk', async () => {
  const session = script(parrot);
  await session.printed('ready');
  const seen: string[] = [];
  let first = true;
  session.pty.onData((data) => {
    if (!first) return;
    first = false;
    session.pty.onData((later) => seen.push(later));
    seen.push(`outer ${data}`);
  });
  session.pty.write('one\r');
  await session.printed('<one>\r\n');
  const before = [...seen];
  session.pty.write('two\r');
  await session.printed('<two>\r\n');
  expect(before[0]).toMatch(/^outer </);
  expect(seen.slice(1).join('')).toBe(session.output.slice(session.output.indexOf('<one>')).slice((seen[0] as string).length - 6));
});

contract('a listener that disposes another during a chunk does not keep it from this one', async () => {
  const session = script(parrot);
  await session.printed('ready');
  const calls: string[] = [];
  let second: { dispose(): void } | undefined;
  session.pty.onData(() => {
    calls.push('first');
    second?.dispose();
  });
  second = session.pty.onData(() => calls.push('second'));
  session.pty.write('x\r');
  await session.printed('<x>\r\n');
  session.pty.write('y\r');
  await session.printed('<y>\r\n');
  expect(calls.slice(0, 2)).toEqual(['first', 'second']);
  expect(calls.filter((name) => name === 'second')).toHaveLength(1);
});

contract('a listener added twice is called twice, and one dispose removes one of them', async () => {
  const session = script(parrot);
  await session.printed('ready');
  let calls = 0;
  const listener = (): void => void calls++;
  const first = session.pty.onData(listener);
  session.pty.onData(listener);
  const start = session.chunks.length;
  session.pty.write('x\r');
  await session.printed('<x>\r\n');
  expect(calls).toBe(2 * (session.chunks.length - start));
  first.dispose();
  const middle = session.chunks.length;
  calls = 0;
  session.pty.write('y\r');
  await session.printed('<y>\r\n');
  expect(calls).toBe(session.chunks.length - middle);
});

contract('onExit gives exitCode and a signal of 0 for a normal end', async () => {
  for (const code of [0, 1, 42, 255]) {
    expect(await script(`exit ${code}`).exit()).toEqual({ exitCode: code, signal: 0 });
  }
});

contract('onExit gives the number of the signal and an exitCode of 0 for a killed child', async () => {
  for (const [name, number] of [['TERM', 15], ['KILL', 9], ['USR1', 10]] as const) {
    expect(await script(`kill -${name} $$`).exit()).toEqual({ exitCode: 0, signal: number });
  }
});

contract('the exit comes once, to each listener, and never to one that comes later', async () => {
  const pty = load().spawn('sh', ['-c', 'exit 3'], {});
  const session = track(pty);
  const calls: Array<[string, Exit]> = [];
  pty.onExit((exit) => {
    calls.push(['a', exit]);
    pty.onExit((late) => calls.push(['late', late]));
  });
  pty.onExit((exit) => calls.push(['b', exit]));
  await session.exit();
  pty.onExit((exit) => calls.push(['too late', exit]));
  const other = script('exit 0');
  await other.exit(); // a whole other session later
  expect(calls).toEqual([
    ['a', { exitCode: 3, signal: 0 }],
    ['b', { exitCode: 3, signal: 0 }],
  ]);
  expect(session.exits).toHaveLength(1);
});

contract('an exit listener may dispose itself and others', async () => {
  const { pty } = script('exit 0');
  const calls: string[] = [];
  const done = new Promise<void>((resolve) => {
    const own = pty.onExit(() => {
      calls.push('own');
      own.dispose();
      other.dispose();
    });
    const other = pty.onExit(() => {
      calls.push('other');
    });
    pty.onExit(() => resolve());
  });
  await done;
  expect(calls).toEqual(['own', 'other']);
});

contract('listeners that come in the same tick, in a microtask or in nextTick miss nothing', async () => {
  const attach: Array<(listen: () => void) => void> = [
    (listen) => listen(),
    (listen) => queueMicrotask(listen),
    (listen) => process.nextTick(listen),
  ];
  for (const later of attach) {
    const pty = load().spawn('sh', ['-c', 'echo first; read line'], {});
    const session = await new Promise<ReturnType<typeof track>>((resolve) => later(() => resolve(track(pty))));
    expect(await session.printed('first')).toBe('first');
  }
});

contract('the pid is valid at once and stays after the exit', async () => {
  const session = script('echo "pid=$$."');
  const { pid } = session.pty;
  expect(pid).toBeGreaterThan(1);
  await session.exit();
  expect(session.output).toBe(`pid=${pid}.\r\n`);
  expect(session.pty.pid).toBe(pid);
});

contract('at the exit the child is gone: its pid takes no signal', async () => {
  const { pty } = script('exit 0');
  const code = await new Promise((resolve) => {
    pty.onExit(() => {
      try {
        process.kill(pty.pid, 0);
        resolve('alive');
      } catch (error) {
        resolve((error as NodeJS.ErrnoException).code);
      }
    });
  });
  expect(code).toBe('ESRCH');
});

contract("the newer events hang on the older ones: emit('data') reaches onData, and removeAllListeners() silences it", async () => {
  const session = script(parrot);
  await session.printed('ready');
  const seen: string[] = [];
  session.pty.onData((data) => seen.push(data));
  (session.pty as unknown as { emit(name: string, data: string): void }).emit('data', 'said by us');
  expect(seen).toEqual(['said by us']);
  const older: string[] = [];
  (session.pty as unknown as { removeAllListeners(name: string): void }).removeAllListeners('data');
  const answered = new Promise<void>((resolve) => session.pty.on('data', (data: string) => (older.push(data), resolve())));
  session.pty.write('x\r');
  await answered;
  expect(seen).toEqual(['said by us']);
  expect(older.join('')).toContain('<x>');
});

contract('events run in the context in which their own session was started', async () => {
  const storage = new AsyncLocalStorage<number>();
  const heard = await Promise.all(
    [1, 2, 3].map((number) =>
      storage.run(number, async () => {
        const { pty } = script('echo text');
        const contexts: unknown[] = [];
        pty.onData(() => contexts.push(storage.getStore()));
        await new Promise<void>((resolve) => pty.onExit(() => (contexts.push(storage.getStore()), resolve())));
        return [...new Set(contexts)];
      }),
    ),
  );
  expect(heard).toEqual([[1], [2], [3]]);
});
