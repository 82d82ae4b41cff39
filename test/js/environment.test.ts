import * as fs from 'node:fs';
import * as path from 'node:path';
import { contract, linux, resultOf, run, script, start, temporaryDirectory } from './support';

/** What a program finds in its environment. */
async function environment(options: object): Promise<Record<string, string>> {
  const { output } = await run('env', [], options);
  const lines = output.split('\r\n').filter((line) => line !== '');
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

contract('the given env is the whole environment, plus PWD and TERM', async () => {
  expect(await environment({ env: { A: '1', EMPTY: '' }, cwd: '/' })).toEqual({ A: '1', EMPTY: '', PWD: '/', TERM: 'xterm' });
});

contract('an empty env leaves PWD and TERM alone', async () => {
  expect(await environment({ env: {}, cwd: '/' })).toEqual({ PWD: '/', TERM: 'xterm' });
});

contract('name is the TERM of the child, whatever env says', async () => {
  expect(await environment({ env: { TERM: 'dumb' }, name: 'xterm-256color', cwd: '/' })).toMatchObject({ TERM: 'xterm-256color' });
});

contract('without name the TERM of env is kept', async () => {
  expect(await environment({ env: { TERM: 'vt52' } })).toMatchObject({ TERM: 'vt52' });
});

contract('PWD is the given cwd to the letter, not the resolved one', async () => {
  const dir = temporaryDirectory();
  const link = path.join(dir, 'link');
  fs.symlinkSync(dir, link);
  expect(await environment({ env: { PWD: '/elsewhere' }, cwd: `${link}/` })).toMatchObject({ PWD: `${link}/` });
});

contract('values that are no strings are written out', async () => {
  const env = { UNDEFINED: undefined, NULL: null, NUMBER: 4.5, YES: true };
  expect(await environment({ env, cwd: '/' })).toMatchObject({ UNDEFINED: 'undefined', NULL: 'null', NUMBER: '4.5', YES: 'true' });
});

contract('an array counts as an object with numbers for names', async () => {
  expect(await environment({ env: ['a', 'b'], cwd: '/' })).toEqual({ 0: 'a', 1: 'b', PWD: '/', TERM: 'xterm' });
});

contract('inherited and hidden properties are no variables', async () => {
  const env = Object.create({ INHERITED: 'x' }) as Record<string, string>;
  Object.defineProperty(env, 'HIDDEN', { value: 'x', enumerable: false });
  env['OWN'] = 'x';
  expect(await environment({ env, cwd: '/' })).toEqual({ OWN: 'x', PWD: '/', TERM: 'xterm' });
});

contract('values pass unchanged: spaces, quotes, equals signs, line breaks, other scripts', async () => {
  const value = ' a="b"=\'c\' $x \\ \n\té日本😀';
  const session = script('printf %s "$VALUE"', { env: { PATH: process.env['PATH'], VALUE: value } });
  await session.exit();
  expect(session.output).toBe(value.replace('\n', '\r\n'));
});

contract.needing(linux)('a variable of 100 kB passes', async () => {
  const session = script('printf %s "${#VALUE}"', { env: { PATH: process.env['PATH'], VALUE: 'v'.repeat(100_000) } });
  await session.exit();
  expect(session.output).toBe('100000');
});

const inherited = ['TMUX', 'TMUX_PANE', 'STY', 'WINDOW', 'WINDOWID', 'TERMCAP', 'COLUMNS', 'LINES'];
const hostEnvironment = { ...process.env, KEPT: 'kept', ...Object.fromEntries(inherited.map((name) => [name, 'x'])) };

/** The names that arrive in the child of a host which runs inside another terminal. */
function arriving(how: 'absent' | 'identical' | 'copied'): Promise<string[]> {
  return resultOf(
    (pty, _kernel, choice: string) => {
      const env = { absent: undefined, identical: process.env, copied: { ...process.env } }[choice];
      return new Promise((resolve) => {
        let output = '';
        const child = pty.spawn('env', [], { env });
        child.onData((data) => (output += data));
        child.onExit(() => resolve(output.split('\r\n').map((line) => line.split('=')[0])));
      });
    },
    { arg: how, env: hostEnvironment },
  );
}

for (const how of ['absent', 'identical'] as const) {
  contract(`with ${how} process.env the traces of an outer terminal are removed, and nothing else`, async () => {
    const names = await arriving(how);
    expect(names.filter((name) => inherited.includes(name))).toEqual([]);
    expect(names).toContain('KEPT');
    const lost = Object.keys(hostEnvironment).filter((name) => !inherited.includes(name) && !names.includes(name));
    expect(lost).toEqual([]);
  });
}

contract('a copy of process.env is passed as it is', async () => {
  expect(await arriving('copied')).toEqual(expect.arrayContaining([...inherited, 'KEPT']));
});

contract('no variable is invented', async () => {
  const names = (await arriving('copied')).filter((name) => name !== '');
  expect(names.filter((name) => !(name in hostEnvironment) && name !== 'PWD' && name !== 'TERM')).toEqual([]);
});

contract('a directory is where the kernel says it is: link/.. is the parent of the target', async () => {
  const root = fs.realpathSync(temporaryDirectory());
  fs.mkdirSync(path.join(root, 'real', 'inner'), { recursive: true });
  fs.symlinkSync(path.join(root, 'real', 'inner'), path.join(root, 'link'));
  const session = start('sh', ['-c', 'pwd -P; echo "<$PWD>"'], { cwd: `${root}/link/..` });
  await session.exit();
  expect(session.output.split('\r\n')[0]).toBe(path.join(root, 'real'));
});
