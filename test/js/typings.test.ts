import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ours, repositoryRoot, temporaryDirectory } from './support';

/** Compiles one file of a user who has sandboxed-pty, node-pty and Node's types installed; gives tsc's complaints. */
function compile(source: string, moduleKind: 'commonjs' | 'nodenext', file: string): string {
  const dir = temporaryDirectory();
  const modules = path.join(dir, 'node_modules');
  fs.mkdirSync(path.join(modules, '@types'), { recursive: true });
  fs.symlinkSync(repositoryRoot, path.join(modules, 'sandboxed-pty'));
  fs.symlinkSync(path.join(repositoryRoot, 'node_modules', 'node-pty'), path.join(modules, 'node-pty'));
  fs.symlinkSync(path.join(repositoryRoot, 'node_modules', '@types', 'node'), path.join(modules, '@types', 'node'));
  fs.writeFileSync(path.join(dir, file), source);
  const tsc = require.resolve('typescript/bin/tsc');
  const resolution = moduleKind === 'commonjs' ? 'node10' : 'nodenext';
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', '--preserveSymlinks'];
  const args = [tsc, ...flags, '--module', moduleKind, '--moduleResolution', resolution, file];
  const end = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' });
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

ours('a terminal is assignable to node-pty\'s own IPty, for CommonJS users', () => {
  expect(compile(program, 'commonjs', 'user.ts')).toBe('');
});

ours('a terminal is assignable to node-pty\'s own IPty, for users of ES modules', () => {
  expect(compile(program, 'nodenext', 'user.mts')).toBe('');
});

ours('the typings refuse what the functions refuse', () => {
  const wrong = `
import { spawn, createSandboxedPty } from 'sandboxed-pty';
// @ts-expect-error a file is a string
spawn(5, [], {});
// @ts-expect-error arguments are strings
spawn('sh', [5], {});
// @ts-expect-error a size is a number
spawn('sh', [], { cols: '80' });
// @ts-expect-error the file is required
createSandboxedPty({ args: [] });
// @ts-expect-error the pid cannot be set
spawn('sh', [], {}).pid = 5;
`;
  expect(compile(wrong, 'nodenext', 'user.mts')).toBe('');
});
