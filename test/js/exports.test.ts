import * as fs from 'node:fs';
import * as path from 'node:path';
import { contract, host, load, ours, packageName, packageRoot, temporaryDirectory, track } from './support';

const names = ['createTerminal', 'fork', 'open', 'spawn'];

/** A directory of a user who has installed the package. */
function installed(): string {
  const dir = temporaryDirectory();
  fs.mkdirSync(path.join(dir, 'node_modules'));
  fs.symlinkSync(packageRoot, path.join(dir, 'node_modules', packageName));
  return dir;
}

async function evaluate(source: string, ...nodeArgs: string[]): Promise<string> {
  const end = await host(source, { cwd: installed(), nodeArgs });
  expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
  return end.stdout.trim();
}

contract('require gives spawn, fork, createTerminal and open', async () => {
  const printed = await evaluate(
    `const m = require('${packageName}'); console.log(${JSON.stringify(names)}.map((name) => typeof m[name]).join())`,
  );
  expect(printed).toBe('function,function,function,function');
});

contract('a static import of the names spawn, fork, createTerminal and open works', async () => {
  const printed = await evaluate(
    `import { ${names.join(', ')} } from '${packageName}'; console.log([${names.join(', ')}].map((f) => typeof f).join())`,
    '--input-type=module',
  );
  expect(printed).toBe('function,function,function,function');
});

contract('a dynamic import has the names on the namespace', async () => {
  const printed = await evaluate(
    `import('${packageName}').then((m) => console.log(${JSON.stringify(names)}.map((name) => typeof m[name]).join()))`,
  );
  expect(printed).toBe('function,function,function,function');
});

contract('an imported spawn runs a program', async () => {
  const printed = await evaluate(
    `import { spawn } from '${packageName}';
     let output = '';
     const pty = spawn('sh', ['-c', 'echo imported; exit 4'], {});
     pty.onData((data) => { output += data; });
     pty.onExit((exit) => console.log(JSON.stringify([output, exit])));`,
    '--input-type=module',
  );
  expect(JSON.parse(printed)).toEqual(['imported\r\n', { exitCode: 4, signal: 0 }]);
});

for (const alias of ['fork', 'createTerminal'] as const) {
  contract(`${alias} does what spawn does`, async () => {
    const session = track(load()[alias]('sh', ['-c', 'echo "$TERM"; exit 3'], { name: 'vt100' }));
    expect(await session.exit()).toEqual({ exitCode: 3, signal: 0 });
    expect(session.output).toBe('vt100\r\n');
  });
}

ours('require and import give the same functions and the same SandboxError', async () => {
  const printed = await evaluate(
    `import * as imported from 'sandboxed-pty';
     import { createRequire } from 'node:module';
     const required = createRequire(process.cwd() + '/x.js')('sandboxed-pty');
     const names = ['spawn', 'fork', 'createTerminal', 'open', 'createSandboxedPty', 'SandboxError'];
     console.log(names.filter((name) => typeof imported[name] !== 'function' || imported[name] !== required[name]).join());`,
    '--input-type=module',
  );
  expect(printed).toBe('');
});

ours('the CommonJS file can be imported by name too', async () => {
  const file = path.join(packageRoot, 'dist', 'index.js');
  const all = [...names, 'createSandboxedPty', 'SandboxError'];
  const printed = await evaluate(
    `import { ${all.join(', ')} } from ${JSON.stringify(file)}; console.log([${all.join(', ')}].map((f) => typeof f).join())`,
    '--input-type=module',
  );
  expect(printed).toBe(all.map(() => 'function').join());
});

ours('package.json can be required by a bundler', async () => {
  expect(await evaluate(`console.log(require('sandboxed-pty/package.json').name)`)).toBe('sandboxed-pty');
});

ours('loading the package starts no process and lets node end', async () => {
  const printed = await evaluate(
    `require('sandboxed-pty');
     console.log(require(${JSON.stringify(path.join(__dirname, 'support', 'processes.js'))}).children().length);`,
  );
  expect(printed).toBe('0');
});
