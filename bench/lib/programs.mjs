// Compiles the C programs of the benchmark into build/bench, when they are missing or older than their sources.
import {spawnSync} from 'node:child_process';
import {mkdirSync, readdirSync, statSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const sources = join(root, 'bench', 'c');
const target = join(root, 'build', 'bench');

/** keeper_model is what the keeper is: small and static. musl if it is there, because it starts faster. */
const programs = {
  producer: ['cc'],
  sink: ['cc'],
  reader: ['cc', '-pthread'],
  writer: ['cc'],
  echo: ['cc'],
  spawn: ['cc'],
  read_strategies: ['cc'],
  gate_connect: ['cc'],
  crowd: ['cc'],
  keeper_model: [spawnSync('musl-gcc', ['--version']).status === 0 ? 'musl-gcc' : 'cc', '-static'],
};

export const program = (name) => join(target, name);

const modified = (path) => statSync(path, {throwIfNoEntry: false})?.mtimeMs ?? 0;

export function compilePrograms() {
  mkdirSync(target, {recursive: true});
  const headers = readdirSync(sources).filter((name) => name.endsWith('.h')).map((name) => join(sources, name));
  for (const [name, [compiler, ...flags]] of Object.entries(programs)) {
    const source = join(sources, `${name}.c`);
    if (modified(program(name)) > Math.max(...[source, ...headers].map(modified))) continue;
    const libraries = name === 'keeper_model' ? [] : ['-lutil'];
    const args = ['-std=gnu11', '-O2', '-Wall', '-Wextra', ...flags, '-o', program(name), source, ...libraries];
    const {status, error, stderr} = spawnSync(compiler, args, {encoding: 'utf8'});
    if (status !== 0) throw new Error(`${compiler} cannot compile bench/c/${name}.c: ${error?.message ?? stderr}`);
  }
}
