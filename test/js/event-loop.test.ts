import { better, contract, host, Lifeline, linux, ours, resultOf, startHost } from './support';

/** Holds the lifeline $1, says so, and waits for ever. */
const holder = 'exec 9> "$1"; echo held; exec sleep 1000';
const deafHolder = 'trap "" HUP TERM INT; exec 9> "$1"; echo held; exec sleep 1000';

contract('a session keeps node alive until its exit, and nothing does afterwards', async () => {
  const end = await host((pty) => {
    const child = pty.spawn('sh', ['-c', 'echo output; exit 5'], {});
    child.onData(() => {});
    child.onExit(({ exitCode }) => console.log(`exit ${exitCode}`));
  });
  expect(end).toMatchObject({ code: 0, signal: null, stdout: 'exit 5\n', stderr: '' });
});

contract('a session without any listener keeps node alive until its exit too', async () => {
  const lifeline = new Lifeline();
  const end = await host(
    (pty, kernel, path) => {
      const child = pty.spawn('sh', ['-c', 'exec 9> "$1"; sleep 0.2', 'sh', path], {});
      process.on('exit', () => console.log(kernel.isRunning(child.pid) ? 'still running' : 'ended'));
    },
    { arg: lifeline.path },
  );
  expect(end).toMatchObject({ code: 0, stdout: 'ended\n', stderr: '' });
  await lifeline.cut();
});

contract('a destroyed session lets node end', async () => {
  const end = await host((pty) => {
    const child = pty.spawn('sh', ['-c', 'echo ready; read line'], {});
    child.onData(() => child.destroy());
    child.onExit(({ signal }) => console.log(`signal ${signal}`));
  });
  expect(end).toMatchObject({ code: 0, stdout: 'signal 1\n', stderr: '' });
});

contract('many sessions that ended in different ways let node end', async () => {
  const result = await resultOf((pty) => {
    const ways = [
      (child: any) => child.kill('SIGKILL'),
      (child: any) => child.destroy(),
      (child: any) => child.write('\r'),
      (child: any) => process.kill(-child.pid, 'SIGTERM'),
    ];
    const exits = Array.from({ length: 12 }, (_, i) => {
      const child = pty.spawn('sh', ['-c', 'echo ready; read line'], {});
      child.onData((data) => data.includes('ready') && ways[i % ways.length]?.(child));
      return new Promise((resolve) => child.onExit(resolve));
    });
    return Promise.all(exits).then((all) => all.length);
  });
  expect(result).toBe(12);
});

for (const how of ['_socket.unref()', 'unref()'] as const) {
  const kind = how === 'unref()' ? ours : better;
  kind(`${how} lets node end although the session runs, and the child ends with it`, async () => {
    const lifeline = new Lifeline();
    const end = await host(
      (pty, _kernel, { path, script, call }) => {
        const child = pty.spawn('sh', ['-c', script, 'sh', path], {});
        child.onData((data) => {
          if (!data.includes('held')) return;
          if (call === 'unref()') child.unref();
          else child._socket.unref();
          console.log('let go');
        });
      },
      { arg: { path: lifeline.path, script: holder, call: how } },
    );
    expect(end).toMatchObject({ code: 0, signal: null, stdout: 'let go\n', stderr: '' });
    await lifeline.cut();
  });
}

ours('unref() lets node end although the session prints without end and its listener is slow', async () => {
  const end = await host((pty) => {
    const child = pty.spawn('yes', [], {});
    let chunks = 0;
    child.onData(() => {
      // Long enough for the next chunk to be there already.
      const until = Date.now() + 60;
      while (Date.now() < until);
      if (++chunks !== 5) return;
      child.unref();
      console.log('let go');
    });
  });
  expect(end).toMatchObject({ code: 0, signal: null, stdout: 'let go\n', stderr: '' });
});

// Whatever was read before is delivered first, which takes several turns of the loop.
for (const paused of [false, true]) {
  ours(`dispose() holds node until it is done, also after unref() and with ${paused ? 'paused' : 'much'} output`, async () => {
    const end = await host(
      (pty, _kernel, { paused }) => {
        const child = pty.spawn('yes', [], {}) as any;
        child.onExit(() => console.log('exit'));
        if (paused) child.pause();
        else child.onData(() => {});
        child.unref();
        setTimeout(() => {
          void child.dispose().then(({ converged }: { converged: boolean }) => console.log('converged', converged));
        }, 200);
      },
      { arg: { paused } },
    );
    expect(end).toMatchObject({ code: 0, signal: null, stdout: 'exit\nconverged true\n', stderr: '' });
  });
}

ours('output goes on after unref() while something else keeps node alive', async () => {
  const count = await resultOf((pty) => {
    const child = pty.spawn('sh', ['-c', 'yes | head -c 4000000; echo; echo end'], {}) as any;
    child.unref();
    const alive = setTimeout(() => process.exit(7), 60_000);
    let length = 0;
    return new Promise((resolve) => {
      child.onData((data: string) => (length += data.length));
      child.onExit(() => (clearTimeout(alive), resolve(length)));
    });
  });
  expect(count).toBe(6_000_000 + '\r\nend\r\n'.length);
});

ours('ref takes unref back', async () => {
  const end = await host((pty) => {
    const child = pty.spawn('sh', ['-c', 'echo output; exit 3'], {});
    child.unref();
    child.ref();
    child.onExit(({ exitCode }) => console.log(`exit ${exitCode}`));
  });
  expect(end).toMatchObject({ code: 0, stdout: 'exit 3\n', stderr: '' });
});

ours('an unreferenced session still tells of data and exit while something else keeps node alive', async () => {
  const result = await resultOf((pty) => {
    const timer = setInterval(() => {}, 1000);
    const child = pty.spawn('sh', ['-c', 'echo output; exit 3'], {});
    child.unref();
    let output = '';
    child.onData((data) => (output += data));
    return new Promise((resolve) => {
      child.onExit(({ exitCode }) => {
        clearInterval(timer);
        resolve([output, exitCode]);
      });
    });
  });
  expect(result).toEqual(['output\r\n', 3]);
});

contract('process.exit in the middle of output ends node with its code', async () => {
  const lifeline = new Lifeline();
  const end = await host(
    (pty, _kernel, path) => {
      pty.spawn('sh', ['-c', 'exec 9> "$1"; while :; do echo output; done', 'sh', path], {}).onData(() => process.exit(7));
    },
    { arg: lifeline.path },
  );
  expect(end).toMatchObject({ code: 7, signal: null, stderr: '' });
  await lifeline.cut();
});

contract('process.exit with queued input, paused and destroyed sessions ends node with its code', async () => {
  const end = await host((pty) => {
    const children = Array.from({ length: 6 }, () => pty.spawn('sh', ['-c', 'stty raw -echo; echo ready; read x < /dev/null; sleep 1000'], {}));
    let ready = 0;
    for (const child of children) {
      child.onData(() => {
        if (++ready < children.length) return;
        children[0]?.write(Buffer.alloc(1024 * 1024));
        children[1]?.pause();
        children[2]?.destroy();
        children[3]?.kill('SIGKILL');
        children[4]?.resize(10, 10);
        process.exit(8);
      });
    }
  });
  expect(end).toMatchObject({ code: 8, signal: null, stderr: '' });
});

contract('process.exit inside an exit listener ends node with its code', async () => {
  const end = await host((pty) => {
    pty.spawn('sh', ['-c', 'exit 0'], {}).onExit(() => process.exit(9));
  });
  expect(end).toMatchObject({ code: 9, signal: null, stderr: '' });
});

contract('process.exit right after spawn ends node with its code', async () => {
  for (let i = 0; i < 5; i++) {
    const end = await host((pty) => {
      pty.spawn('sh', ['-c', 'read line'], {});
      process.exit(6);
    });
    expect(end).toMatchObject({ code: 6, signal: null, stderr: '' });
  }
});

/** Kills a host whose session runs the script with the lifeline as $1. */
async function killHostOf(script: string): Promise<void> {
  const lifeline = new Lifeline();
  const running = startHost(
    (pty, _kernel, { path, text }) => {
      pty.spawn('sh', ['-c', text, 'sh', path], {}).onData((data) => process.stdout.write(data));
    },
    { arg: { path: lifeline.path, text: script } },
  );
  await running.printed('held');
  running.kill('SIGKILL');
  expect((await running.end()).signal).toBe('SIGKILL');
  await lifeline.cut();
}

contract('when the host is killed its session ends', async () => {
  await killHostOf(holder);
});

better('when the host is killed a child that ignores the hangup ends too', async () => {
  await killHostOf(deafHolder);
});

better('when the host is killed background processes end too', async () => {
  await killHostOf('trap "" HUP; exec 9> "$1"; (sleep 1000) & echo held; wait');
});

better.needing(linux)('when the host is killed processes that left the session end too', async () => {
  // The daemon alone holds the lifeline: its parents are gone, and so is its terminal.
  await killHostOf('exec 9> "$1"; setsid sh -c "sleep 1000 &" < /dev/null > /dev/null 2>&1; exec 9>&-; echo held; read line');
});

better('when the host exits by itself a child that ignores the hangup ends too', async () => {
  const lifeline = new Lifeline();
  const end = await host(
    (pty, _kernel, { path, text }) => {
      pty.spawn('sh', ['-c', text, 'sh', path], {}).onData((data) => data.includes('held') && process.exit(0));
    },
    { arg: { path: lifeline.path, text: deafHolder } },
  );
  expect(end.code).toBe(0);
  await lifeline.cut();
});
