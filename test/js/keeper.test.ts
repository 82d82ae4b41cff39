// The helper program beside the addon: how it is found, and what is said when it is not there.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { host, linux, modulePath, Need, ours, packageRoot, resultOf, temporaryDirectory, writeScript } from './support';

interface Outcome {
  errors: Array<{ name: string; stage: string; path: string; code: string; message: string }>;
}

/** Where the addon and the helper are, relative to the package: built here or shipped. */
function binaryDirectory(): string {
  const shipped = path.join(packageRoot, 'prebuilds');
  const names = fs.existsSync(shipped) ? fs.readdirSync(shipped).map((name) => path.join('prebuilds', name)) : [];
  const found = ['build/Release', ...names].find((dir) => fs.existsSync(path.join(packageRoot, dir, 'sandboxed_pty.node')));
  if (found === undefined) throw new Error('the addon has not been built');
  return found;
}

/** Copies the package without its helper to `root`. */
function copyPackage(root: string): void {
  const binaries = path.join(root, binaryDirectory());
  fs.mkdirSync(binaries, { recursive: true });
  fs.cpSync(path.join(packageRoot, 'dist'), path.join(root, 'dist'), { recursive: true });
  fs.cpSync(path.join(packageRoot, 'package.json'), path.join(root, 'package.json'));
  fs.cpSync(path.join(packageRoot, binaryDirectory(), 'sandboxed_pty.node'), path.join(binaries, 'sandboxed_pty.node'));
}

/** A copy of the package, and where its helper is expected. */
function packageCopy(): { root: string; keeper: string } {
  const root = temporaryDirectory();
  copyPackage(root);
  return { root, keeper: path.join(root, binaryDirectory(), 'sandboxed-pty-keeper') };
}

/** Starts sessions in a host that uses this copy of the package; gives the errors, at the latest those of asking for the pid. */
function startFrom(root: string): Promise<Outcome> {
  return resultOf(
    async (pty, kernel) => {
      const exits: Promise<unknown>[] = [];
      const attempt = (start: () => any): any => {
        try {
          const session = start();
          exits.push(new Promise((resolve) => session.onExit(resolve)));
          session.kill('SIGKILL');
          return { name: 'none', pid: session.pid };
        } catch (error) {
          const { name, message, stage, path, code } = error as any;
          return { name, message, stage, path, code };
        }
      };
      const both = async (): Promise<any[]> => {
        const errors = [() => pty.spawn('sh', [], {}), () => pty.createSandboxedPty({ file: 'sh' })].map(attempt);
        await Promise.all(exits);
        await kernel.until('no child is left', () => kernel.children().length === 0);
        return errors;
      };
      const errors = await both();
      const before = kernel.openFds().length;
      for (let i = 0; i < 5; i++) await both();
      // The last ones are let go of by the pump, a moment after the exit was told.
      await kernel.until('their descriptors are closed', () => kernel.openFds().length <= before);
      return { errors };
    },
    { module: root },
  );
}

ours('a missing helper is a SandboxError at the stage keeper that names it', async () => {
  const { root, keeper } = packageCopy();
  const { errors } = await startFrom(root);
  for (const error of errors) {
    expect(error).toMatchObject({ name: 'SandboxError', stage: 'keeper', path: keeper, code: 'ENOENT' });
    expect(error.message).toContain(keeper);
  }
  expect(errors).toHaveLength(2);
});

ours('a helper that may not be executed is a SandboxError at the stage keeper that names it', async () => {
  const { root, keeper } = packageCopy();
  writeScript(keeper, 'no program', 0o644);
  const { errors } = await startFrom(root);
  for (const error of errors) expect(error).toMatchObject({ name: 'SandboxError', stage: 'keeper', path: keeper, code: 'EACCES' });
});

ours('a helper that is a directory is a SandboxError at the stage keeper', async () => {
  const { root, keeper } = packageCopy();
  fs.mkdirSync(keeper);
  const { errors } = await startFrom(root);
  for (const error of errors) expect(error).toMatchObject({ name: 'SandboxError', stage: 'keeper', path: keeper });
});

ours.needing(linux)('a helper that is another program is a SandboxError, and nothing is left of it', async () => {
  for (const program of ['/bin/true', '/bin/false']) {
    const { root, keeper } = packageCopy();
    fs.symlinkSync(program, keeper);
    const { errors } = await startFrom(root);
    expect(errors.map(({ name }) => name)).toEqual(['SandboxError', 'SandboxError']);
  }
});

ours.needing(linux)('spawn() does not wait for its helper: that it fails is told in the terminal, and to who asks for the pid', async () => {
  const { root, keeper } = packageCopy();
  writeScript(keeper, '#!/bin/sh\nhead -c 100 <&3 >/dev/null\n');
  const outcome = await resultOf(
    async (pty, kernel) => {
      const session = pty.spawn('sh', [], {});
      let output = '';
      session.onData((data) => (output += data));
      const exit = await new Promise((resolve) => session.onExit(resolve));
      const pids = [1, 2].map(() => {
        try {
          return session.pid;
        } catch (error) {
          return (error as any).code;
        }
      });
      await kernel.until('no child is left', () => kernel.children().length === 0);
      return { output, exit, pids };
    },
    { module: root },
  );
  expect(outcome).toEqual({
    output: 'keeper failed.: Connection reset by peer\r\n',
    exit: { exitCode: 1, signal: 0 },
    pids: ['ECONNRESET', 'ECONNRESET'],
  });
});

ours('a helper that is no executable format is a SandboxError', async () => {
  const { root, keeper } = packageCopy();
  writeScript(keeper, 'no program');
  const { errors } = await startFrom(root);
  expect(errors.map(({ name }) => name)).toEqual(['SandboxError', 'SandboxError']);
});

ours('a path inside an Electron archive becomes the path beside it', () => {
  const { unpackedPath } = require(path.join(path.dirname(modulePath), 'native-loader.js')) as { unpackedPath(file: string): string };
  const pairs: Record<string, string> = {
    '/x/app.asar/y': '/x/app.asar.unpacked/y',
    '/x/app.asar/node_modules/sandboxed-pty/build/keeper': '/x/app.asar.unpacked/node_modules/sandboxed-pty/build/keeper',
    '/x/app.asar.unpacked/y': '/x/app.asar.unpacked/y',
    '/x/node_modules.asar/y': '/x/node_modules.asar.unpacked/y',
    '/x/app/y': '/x/app/y',
    '/x/app.asarum/y': '/x/app.asarum/y',
  };
  for (const [given, expected] of Object.entries(pairs)) expect([given, unpackedPath(given)]).toEqual([given, expected]);
});

ours('a package inside an archive uses the helper that was unpacked beside it', async () => {
  const root = temporaryDirectory();
  const inside = path.join(root, 'app.asar', 'node_modules', 'sandboxed-pty');
  const beside = path.join(root, 'app.asar.unpacked', 'node_modules', 'sandboxed-pty', binaryDirectory());
  copyPackage(inside);
  fs.mkdirSync(beside, { recursive: true });
  fs.cpSync(path.join(packageRoot, binaryDirectory(), 'sandboxed-pty-keeper'), path.join(beside, 'sandboxed-pty-keeper'));
  const source = `require(${JSON.stringify(inside)}).spawn('sh', ['-c', 'exit 7'], {}).onExit(({ exitCode }) => console.log(exitCode));`;
  expect(await host(source)).toMatchObject({ code: 0, stdout: '7\n', stderr: '' });
});

const strace: Need = { met: fs.existsSync('/usr/bin/strace'), reason: 'needs strace' };

// The answer that createSandboxedPty() does not wait for says, too, how well the session is tracked.
ours.needing(linux, strace)('that a session is tracked weakly is told once, also if that turns out after the call', async () => {
  const { root, keeper } = packageCopy();
  const real = path.join(path.dirname(keeper), 'real-keeper');
  fs.copyFileSync(path.join(packageRoot, binaryDirectory(), 'sandboxed-pty-keeper'), real);
  const run = (): Promise<any> =>
    resultOf(
      async (pty, kernel, { root }) => {
        require(`${root}/dist/feature-limits.js`).featureLimits.cgroup = false;
        const outcomes = [];
        for (const file of ['/bin/cat', `${root}/script`]) {
          const told: string[] = [];
          const session: any = pty.createSandboxedPty({ file, projectDir: root, sandbox: { enabled: true } });
          session.onWarning(({ code }: { code: string }) => told.push(code));
          const exit = new Promise((resolve) => session.onExit(resolve));
          if (session.tracking.mechanisms.length === 1) await kernel.until('the warning', () => told.length > 0);
          session.kill('SIGKILL');
          await exit;
          outcomes.push({ told, tracking: session.tracking.mechanisms, confined: session.sandbox.confined });
        }
        return outcomes;
      },
      { module: root, arg: { root } },
    );
  writeScript(path.join(root, 'script'), '#!/bin/sh\nexec cat\n');
  // The proof that the keeper reaches nobody but the session begins with who its host is.
  const withFault = `#!/bin/sh\nexec strace -D -qq -o /dev/null -e trace=getsockopt -e inject=getsockopt:error=EPERM '${real}'\n`;
  const proven = { told: [], tracking: ['landlock-scope', 'subreaper'], confined: true };
  const weak = { told: ['WEAK_TRACKING'], tracking: ['subreaper'], confined: true };
  fs.copyFileSync(real, keeper);
  expect(await run()).toEqual([proven, proven]);
  writeScript(keeper, withFault);
  expect(await run()).toEqual([weak, weak]);
});

interface Started {
  handle: object;
  tempDir: string;
}

ours.needing(linux)('a keeper that was started ahead is used once, and leaves nothing if it is not used', () => {
  const { keeperPath, loadNative } = require(path.join(packageRoot, 'dist/native-loader')) as {
    keeperPath(): string;
    loadNative(): {
      startKeeper(program: string, prefix: string): Started;
      releaseKeeper(handle: object): void;
      NativeSession: new (request: object, handlers: object) => { kill(signal: number): boolean; unref(): void };
    };
  };
  const native = loadNative();
  const nothing = (): void => {};
  const handlers = { onData: nothing, onDrain: nothing, onExit: nothing, onMore: nothing, onLimit: nothing, onTracking: nothing, text: false };
  const request = { file: '/bin/true', args: [], env: '', cwd: '/', cols: 80, rows: 24, utf8: true, keeperPath: keeperPath(), waitForExec: true };
  const unused = native.startKeeper(keeperPath(), path.join(temporaryDirectory(), 'private-'));
  expect(fs.statSync(unused.tempDir).mode & 0o777).toBe(0o700);
  native.releaseKeeper(unused.handle);
  expect(fs.existsSync(unused.tempDir)).toBe(false);
  // Never silently another one.
  expect(() => new native.NativeSession({ ...request, keeper: unused.handle }, handlers)).toThrow(/startKeeper/);
  expect(() => new native.NativeSession({ ...request, keeper: {} }, handlers)).toThrow(/startKeeper/);
  const used = native.startKeeper(keeperPath(), '');
  const session = new native.NativeSession({ ...request, keeper: used.handle }, handlers);
  session.kill(9);
  session.unref(); // nobody takes its end, which would hold the loop
  expect(() => new native.NativeSession({ ...request, keeper: used.handle }, handlers)).toThrow(/startKeeper/);
});
