// worker_threads: a session ends with the thread that started it, whatever state both are in.
import { better, contract, linux, modulePath, ours, resultOf, temporaryDirectory } from './support';

/** Runs in a worker: starts a session, brings it into a state, and says so. Then the worker is terminated. */
const states: Record<string, string> = {
  'at once': `
    const child = pty.spawn('sh', ['-c', 'read line'], {});
    reached(child);`,
  'during output': `
    const child = pty.spawn('sh', ['-c', 'while :; do echo output; done'], {});
    let chunks = 0;
    child.onData(() => ++chunks === 3 && reached(child));`,
  'after the exit': `
    const child = pty.spawn('sh', ['-c', 'exit 0'], {});
    child.onExit(() => reached(child));`,
  'while the child is ending': `
    const child = pty.spawn('sh', ['-c', 'echo ready; read line'], {});
    child.onData(() => { child.kill('SIGKILL'); reached(child); });`,
  'with queued input': `
    const child = pty.spawn('sh', ['-c', 'stty raw -echo; echo ready; read x < /dev/null; sleep 1000'], {});
    child.onData(() => { for (let i = 0; i < 16; i++) child.write(Buffer.alloc(65536)); reached(child); });`,
  'while paused': `
    const child = pty.spawn('sh', ['-c', 'echo ready; while :; do echo output; done'], {});
    child.onData(() => { child.pause(); reached(child); });`,
  'while it disposes of its session': `
    const child = pty.spawn('sh', ['-c', "trap '' HUP; echo ready; while :; do sleep 1000; done"], {});
    child.onData(() => { child.dispose({ graceMs: 100000 }).then(() => { throw new Error('disposed of'); }); reached(child); });`,
  'when its session has just been disposed of': `
    const child = pty.spawn('sh', ['-c', 'echo ready; read line'], {});
    child.onData(() => { child.dispose().then(() => {}); setTimeout(() => {}, 100000); reached(child); });`,
  'with a session that outlives its shell': `
    const child = pty.createSandboxedPty({ file: 'sh', args: ['-c', 'sleep 1000 & exit 0'], keepAliveAfterExit: true });
    child.onExit(() => { setTimeout(() => {}, 100000); reached(child); });`,
  'with a confined session': `
    const child = pty.createSandboxedPty({
      file: '/bin/sh', args: ['-c', 'echo ready; read line'], cwd: '/', projectDir: require('node:fs').realpathSync(require('node:os').tmpdir()),
      home: '/nonexistent', sandbox: { enabled: true, profile: 'workspace' },
    });
    child.onData(() => reached(child));`,
  'while it lists processes': `
    const child = pty.spawn('sh', ['-c', 'sleep 1000 & sleep 1000 & echo ready; read line'], {});
    child.onData(() => { reached(child); for (;;) child.listProcesses(); });`,
  'after destroy': `
    const child = pty.spawn('sh', ['-c', 'echo ready; read line'], {});
    child.onData(() => { child.destroy(); reached(child); });`,
};

/** The main program: terminates many workers in that state, and gives what is left of them. */
function terminateMany(state: string, count: number): Promise<unknown> {
  return resultOf(
    async (pty, kernel, { path, text, rounds }) => {
      const { Worker } = require('node:worker_threads');
      const source = `
        const { parentPort } = require('node:worker_threads');
        const pty = require(${JSON.stringify(path)});
        const reached = (child) => parentPort.postMessage(child.pid);
        ${text}`;
      const start = async (): Promise<number> => {
        const worker = new Worker(source, { eval: true });
        const pid: number = await new Promise((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        });
        await worker.terminate();
        return pid;
      };
      const own = pty.spawn('sh', ['-c', 'stty -echo; echo ready; while read line; do echo "<$line>"; done'], {});
      let output = '';
      own.onData((data) => (output += data));
      await kernel.until('the session of the main thread runs', () => output.includes('ready'));
      await start();
      const [children, fds] = [kernel.children().length, kernel.openFds().length];
      const pids: number[] = [];
      for (let i = 0; i < rounds; i++) pids.push(await start());
      await kernel.until('the children of all workers have ended', () => !pids.some((pid) => kernel.isRunning(pid)));
      await kernel.until('no process is left', () => kernel.children().length <= children);
      await kernel.until('no descriptor is left', () => kernel.openFds().length <= fds);
      own.write('still here\r');
      await kernel.until('the session of the main thread still answers', () => output.includes('<still here>'));
      own.kill('SIGKILL');
      return 'survived';
    },
    { arg: { path: modulePath, text: states[state], rounds: count } },
  );
}

for (const state of Object.keys(states)) {
  better(`a worker can be terminated ${state}: its child ends, and nothing else does`, async () => {
    expect(await terminateMany(state, 15)).toBe('survived');
  });
}

/** Runs a worker to its own end, without loading the module in the main thread. */
function inWorker(text: string): Promise<any> {
  return resultOf(
    (_pty, _kernel, { path, body }) => {
      const { Worker } = require('node:worker_threads');
      const source = `
        const { parentPort } = require('node:worker_threads');
        const pty = require(${JSON.stringify(path)});
        ${body}`;
      const worker = new Worker(source, { eval: true });
      const messages: unknown[] = [];
      worker.on('message', (message: unknown) => messages.push(message));
      return new Promise((resolve, reject) => {
        worker.on('error', reject);
        worker.on('exit', (code: number) => resolve({ code, messages }));
      });
    },
    { arg: { path: modulePath, body: text } },
  );
}

contract('a session in a worker works, and lets the worker end after its exit', async () => {
  const end = await inWorker(`
    let output = '';
    const child = pty.spawn('sh', ['-c', 'stty -echo; echo ready; read line; echo "<$line>"; read line; exit 3'], {});
    child.onData((data) => {
      output += data;
      if (output === 'ready\\r\\n') child.write('hello\\r');
      if (output.endsWith('<hello>\\r\\n')) child.write('\\r');
    });
    child.onExit((exit) => parentPort.postMessage([output, exit]));`);
  expect(end).toEqual({ code: 0, messages: [['ready\r\n<hello>\r\n', { exitCode: 3, signal: 0 }]] });
});

better('process.exit in a worker ends the worker and its session', async () => {
  const end = await inWorker(`
    const child = pty.spawn('sh', ['-c', 'while :; do echo output; done'], {});
    child.onData(() => { parentPort.postMessage(child.pid); process.exit(5); });`);
  expect(end.code).toBe(5);
});

better('a worker that exits in a data listener, again and again, leaves the host alive', async () => {
  expect(await endMany('process.exit(5);')).toEqual(Array(20).fill({ code: 5 }));
});

better('a worker whose data listener throws ends with that error, and leaves the host alive', async () => {
  expect(await endMany("throw new Error('of the listener');")).toEqual(
    Array(20).fill({ code: 1, error: 'of the listener' }),
  );
});

/** Runs worker after worker whose data listener does this in the middle of a flow of output. */
function endMany(listener: string): Promise<unknown> {
  return resultOf(
    async (_pty, _kernel, { path, body }) => {
      const { Worker } = require('node:worker_threads');
      const source = `
        const pty = require(${JSON.stringify(path)});
        let chunks = 0;
        const child = pty.spawn('sh', ['-c', 'while :; do echo output; done'], {});
        child.onData(() => { if (++chunks === 3) { ${body} } });`;
      const ends: unknown[] = [];
      for (let i = 0; i < 20; i++) {
        const worker = new Worker(source, { eval: true });
        let error: string | undefined;
        worker.on('error', (thrown: Error) => (error = thrown.message));
        const code = await new Promise((resolve) => worker.on('exit', resolve));
        ends.push({ code, ...(error === undefined ? {} : { error }) });
      }
      return ends;
    },
    { arg: { path: modulePath, body: listener } },
  );
}

better('several workers run sessions at the same time', async () => {
  const results = await resultOf(
    async (pty, _kernel, path) => {
      const { Worker } = require('node:worker_threads');
      const source = `
        const { parentPort, workerData } = require('node:worker_threads');
        const pty = require(${JSON.stringify(path)});
        const outputs = [];
        for (let i = 0; i < 5; i++) {
          let output = '';
          const child = pty.spawn('seq', [String(workerData * 10000 + i * 1000), String(workerData * 10000 + i * 1000 + 900)], {});
          child.onData((data) => { output += data; });
          child.onExit(() => { outputs.push(output); if (outputs.length === 5) parentPort.postMessage(outputs.map((text) => text.split('\\r\\n').length).join()); });
        }`;
      void pty;
      const one = (number: number): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const worker = new Worker(source, { eval: true, workerData: number });
          worker.once('message', resolve);
          worker.once('error', reject);
        });
      return Promise.all([1, 2, 3, 4].map(one));
    },
    { arg: modulePath },
  );
  expect(results).toEqual(Array.from({ length: 4 }, () => '902,902,902,902,902'));
});

ours.needing(linux)('a confined session in a worker gets the environment of the worker, not that of the process', async () => {
  const results = await resultOf(
    async (pty, _kernel, { path, projectDir }) => {
      void pty;
      process.env['LANG'] = 'main';
      process.env['EDITOR'] = 'main';
      const { Worker } = require('node:worker_threads');
      const source = `
        const { parentPort, workerData } = require('node:worker_threads');
        const pty = require(${JSON.stringify(path)});
        process.env.EDITOR = 'set in the worker';
        const child = pty.createSandboxedPty({
          file: '/bin/sh', args: ['-c', 'echo "<$LANG|$EDITOR|$TERM>"'], projectDir: workerData, home: '/nonexistent', sandbox: { enabled: true },
        });
        let output = '';
        child.onData((data) => { output += data; });
        child.onExit(() => parentPort.postMessage(output.trim()));`;
      return new Promise((resolve, reject) => {
        const worker = new Worker(source, { eval: true, workerData: projectDir, env: { PATH: '/usr/bin:/bin', LANG: 'worker', TERM: 'dumb' } });
        worker.once('message', resolve);
        worker.once('error', reject);
      });
    },
    { arg: { path: modulePath, projectDir: temporaryDirectory() } },
  );
  expect(results).toBe('<worker|set in the worker|dumb>');
});
