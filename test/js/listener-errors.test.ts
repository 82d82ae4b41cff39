// What listeners throw reaches the process, and everything else goes on.
import { better, contract, host, resultOf } from './support';

contract('an error thrown by a data listener is an uncaught exception, and the session goes on', async () => {
  const seen = await resultOf(async (pty) => {
    const uncaught: string[] = [];
    process.on('uncaughtException', (error) => uncaught.push(error.message));
    const child = pty.spawn('sh', ['-c', 'stty -echo; echo one; read line; echo two; exit 3'], {});
    let output = '';
    child.onData((data) => {
      output += data;
      if (data.includes('one')) child.write('\r');
    });
    child.onData((data) => {
      if (data.includes('one')) throw new Error('thrown at data');
    });
    const exit = await new Promise((resolve) => child.onExit(resolve));
    return { uncaught, output, exit };
  });
  expect(seen).toEqual({ uncaught: ['thrown at data'], output: 'one\r\ntwo\r\n', exit: { exitCode: 3, signal: 0 } });
});

contract('an error thrown by a data listener ends a process that does not handle it', async () => {
  const end = await host((pty) => {
    pty.spawn('sh', ['-c', 'echo one; read line'], {}).onData(() => {
      throw new Error('thrown at data');
    });
  });
  expect(end.code).toBe(1);
  expect(end.stderr).toContain('thrown at data');
});

better('an error thrown by an exit listener is an uncaught exception, in each of 20 sessions', async () => {
  const uncaught = await resultOf(async (pty) => {
    const messages: string[] = [];
    process.on('uncaughtException', (error) => messages.push(error.message));
    for (let i = 0; i < 20; i++) {
      const child = pty.spawn('sh', ['-c', 'exit 0'], {});
      await new Promise<void>((resolve) => {
        child.onExit(() => {
          setImmediate(resolve);
          throw new Error('thrown at exit');
        });
      });
    }
    return messages;
  });
  expect(uncaught).toEqual(Array.from({ length: 20 }, () => 'thrown at exit'));
});

better('an error thrown by an exit listener ends a process that does not handle it', async () => {
  for (let i = 0; i < 3; i++) {
    const end = await host((pty) => {
      pty.spawn('sh', ['-c', 'exit 0'], {}).onExit(() => {
        throw new Error('thrown at exit');
      });
    });
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('thrown at exit');
  }
});

for (const event of ['data', 'exit', 'close'] as const) {
  const kind = event === 'data' ? contract : better;
  kind(`an error thrown by a listener of the older ${event} event is an uncaught exception`, async () => {
    const messages = await resultOf(
      async (pty, _kernel, name: string) => {
        const uncaught: string[] = [];
        process.on('uncaughtException', (error) => uncaught.push(error.message));
        for (let i = 0; i < 10; i++) {
          const child = pty.spawn('sh', ['-c', 'echo output'], {});
          const exited = new Promise((resolve) => child.onExit(resolve));
          child.once(name, () => {
            throw new Error(`thrown at ${name}`);
          });
          await exited;
          await new Promise((resolve) => setImmediate(resolve));
        }
        return uncaught;
      },
      { arg: event },
    );
    expect(messages).toEqual(Array.from({ length: 10 }, () => `thrown at ${event}`));
  });
}

better('every listener is told of a chunk and of the exit, although the first one throws', async () => {
  const told = await resultOf(async (pty) => {
    process.on('uncaughtException', () => {});
    const child = pty.spawn('sh', ['-c', 'echo output; exit 4'], {});
    const heard: string[] = [];
    for (const name of ['first', 'second']) {
      child.onData((data) => {
        heard.push(`${name} data`);
        if (name === 'first') throw new Error(data);
      });
      child.onExit(() => {
        heard.push(`${name} exit`);
        if (name === 'first') throw new Error('exit');
      });
    }
    await new Promise((resolve) => child.on('exit', resolve));
    return heard;
  });
  expect(told).toEqual(['first data', 'second data', 'first exit', 'second exit']);
});

contract('the other sessions do not notice', async () => {
  const outcome = await resultOf(async (pty) => {
    process.on('uncaughtException', () => {});
    const thrower = pty.spawn('sh', ['-c', 'while :; do echo noise; done'], {});
    thrower.onData(() => {
      throw new Error('always');
    });
    const child = pty.spawn('sh', ['-c', 'stty -echo; echo ready; read line; echo "<$line>"; read line'], {});
    let output = '';
    await new Promise<void>((resolve) => {
      child.onData((data) => {
        output += data;
        if (output === 'ready\r\n') child.write('hello\r');
        if (output.includes('<hello>')) resolve();
      });
    });
    thrower.kill('SIGKILL');
    child.kill('SIGKILL');
    return output.trim();
  });
  expect(outcome).toBe('ready\r\n<hello>');
});
