import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ours, repositoryRoot, temporaryDirectory } from './support';

/** Compiles files of a user who has sandboxed-pty, node-pty and Node's types installed; gives tsc's complaints. */
function compile(moduleKind: 'commonjs' | 'nodenext', files: Record<string, string>, nodePty?: string): string {
  const dir = temporaryDirectory();
  const modules = path.join(dir, 'node_modules');
  fs.mkdirSync(path.join(modules, '@types'), { recursive: true });
  fs.symlinkSync(repositoryRoot, path.join(modules, 'sandboxed-pty'));
  fs.symlinkSync(nodePty ?? path.join(repositoryRoot, 'node_modules/node-pty'), path.join(modules, 'node-pty'));
  for (const name of ['@types/node', 'undici-types']) {
    fs.symlinkSync(path.join(repositoryRoot, 'node_modules', name), path.join(modules, name));
  }
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(dir, name), text);
  const resolution = moduleKind === 'commonjs' ? 'node10' : 'nodenext';
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,esnext.disposable', '--types', 'node', '--preserveSymlinks'];
  const args = [...flags, '--module', moduleKind, '--moduleResolution', resolution, ...Object.keys(files)];
  const end = spawnSync(process.execPath, [require.resolve('typescript/bin/tsc'), ...args], { cwd: dir, encoding: 'utf8' });
  expect(end.stderr).toBe('');
  return end.stdout;
}

const program = `
import { spawn, fork, createTerminal, createSandboxedPty, SandboxError } from 'sandboxed-pty';

const p: import('node-pty').IPty = spawn('sh', [], { cols: 80, rows: 24, name: 'xterm', env: { A: undefined } });
const q: import('node-pty').IPty = fork('sh', ['-l'], {});
const r: import('node-pty').IPty = createTerminal('sh', [], { encoding: null });
const s: import('node-pty').IPty = createSandboxedPty({ file: 'sh', args: ['-c', 'true'], cwd: '/' });
const subscription: import('node-pty').IDisposable = p.onData((data: string) => data.length);
subscription.dispose();
q.onExit(({ exitCode, signal }: { exitCode: number; signal?: number }) => exitCode + (signal ?? 0));
r.resize(80, 24, { width: 800, height: 600 });
s.write(Buffer.from('x'));
const drop: typeof import('node-pty').spawn = spawn;
drop('sh', [], { uid: 1, gid: 1 });
const options: import('node-pty').IPtyForkOptions = {};
spawn('sh', [], options);
try {
  createSandboxedPty({ file: 'missing' });
} catch (error) {
  if (error instanceof SandboxError) {
    const code: string = error.code;
    const stage: string = error.stage;
    const errno: number | undefined = error.errno;
    const path: string | undefined = error.path;
    console.log(code, stage, errno, path, error.message);
  }
}
`;

/** A program that takes everything from "node-pty", which is this package by an alias. */
const aliased = `
import * as pty from 'node-pty';
import type { IPty, IPtyForkOptions, IWindowsPtyForkOptions, IBasePtyForkOptions, IDisposable, IEvent } from 'node-pty';
const options: IPtyForkOptions = { cols: 80, uid: 1, gid: 1 };
const windows: IWindowsPtyForkOptions = { useConpty: true };
const base: IBasePtyForkOptions = { encoding: null };
const p: IPty = pty.spawn('sh', [], options);
const q: pty.IPty = pty.spawn('sh', [], windows);
const subscription: IDisposable = q.onData((data: string) => data.length);
const event: IEvent<string> = p.onData;
class Fake implements IPty {
  readonly pid = 1; readonly cols = 80; readonly rows = 24; readonly process = 'sh'; handleFlowControl = false;
  readonly onData: IEvent<string> = () => ({ dispose() {} });
  readonly onExit: IEvent<{ exitCode: number; signal?: number }> = () => ({ dispose() {} });
  resize(columns: number, rows: number): void {}
  clear(): void {}
  write(data: string | Buffer): void {}
  kill(signal?: string): void {}
  pause(): void {}
  resume(): void {}
}
console.log(base, subscription, event, new Fake());
`;

const wrong = `
import { spawn, createSandboxedPty } from 'sandboxed-pty';
// @ts-expect-error a file is a string
spawn(5, [], {});
// @ts-expect-error arguments are strings
spawn('sh', [5], {});
// @ts-expect-error a size is a number
spawn('sh', [], { cols: '80' });
// @ts-expect-error arguments are a list here
createSandboxedPty({ file: 'sh', args: '-l' });
// @ts-expect-error the pid cannot be set
spawn('sh', [], {}).pid = 5;
`;

ours('a terminal is assignable to node-pty\'s own IPty, for CommonJS users', () => {
  expect(compile('commonjs', { 'user.ts': program })).toBe('');
});

ours('the same for users of ES modules, and the typings refuse what the functions refuse', () => {
  expect(compile('nodenext', { 'user.mts': program, 'wrong.mts': wrong })).toBe('');
});

ours("programs that take node-pty's types from it get ours by an alias", () => {
  expect(compile('commonjs', { 'user.ts': aliased }, repositoryRoot)).toBe('');
  expect(compile('nodenext', { 'user.mts': aliased }, repositoryRoot)).toBe('');
  expect(compile('commonjs', { 'user.ts': aliased })).toBe('');
});
