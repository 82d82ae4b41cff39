// Builds the libFuzzer targets with clang and runs each for its share of the time, from the corpus in the tree.
//   node scripts/fuzz.mjs [--seconds N] [--target settings|host_pattern] [--keep]
// New inputs go to build/fuzz/<target>; --keep merges those that reach new code into test/native/fuzz/corpus. A finding
// is written to build/fuzz and makes the exit status 1.
import {mkdirSync, readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {spawnSync} from 'node:child_process';
import {parseArgs} from 'node:util';
import {Failure, main, root, run, which} from './lib/process.mjs';

const targets = ['settings', 'host_pattern'];
const flags = ['-std=c++20', '-O1', '-g', '-fno-omit-frame-pointer', '-fsanitize=fuzzer,address,undefined',
  '-fno-sanitize-recover=all', `-I${join(root, 'native')}`];

function build(target, output) {
  const lists = JSON.parse(readFileSync(join(root, 'native', 'sources.json'), 'utf8'));
  const sources = lists.settings.map((path) => join(root, 'native', path));
  run('clang++', [...flags, join(root, 'test', 'native', 'fuzz', `${target}_fuzz.cc`), ...sources, '-o', output]);
}

function fuzz(target, seconds, keep) {
  const work = join(root, 'build', 'fuzz');
  const seeds = join(root, 'test', 'native', 'fuzz', 'corpus', target);
  const found = join(work, target);
  const program = join(work, `${target}_fuzz`);
  mkdirSync(found, {recursive: true});
  build(target, program);
  const result = spawnSync(program, [`-max_total_time=${seconds}`, '-max_len=8192', '-timeout=10', '-print_final_stats=1',
    `-artifact_prefix=${work}/${target}-`, found, seeds], {encoding: 'utf8', maxBuffer: 1 << 28});
  if (result.error) throw new Failure(`${program} could not be started: ${result.error.message}`);
  const text = result.stderr;
  if (result.status !== 0) throw new Failure(`${text.slice(-6000)}\n${target}: a finding after ${seconds} s at the most`);
  const runs = /number_of_executed_units:\s*(\d+)/.exec(text)?.[1] ?? '0';
  const coverage = [...text.matchAll(/cov: (\d+)/g)].at(-1)?.[1] ?? '?';
  if (Number(runs) === 0) throw new Failure(`${target}: nothing was run`);
  console.log(`${target}: ${runs} inputs in ${seconds} s, no finding (coverage ${coverage}, ${readdirSync(found).length} new inputs kept)`);
  if (keep) run(program, ['-merge=1', seeds, found]);
}

await main(() => {
  const {values} = parseArgs({options: {seconds: {type: 'string', default: '60'}, target: {type: 'string'}, keep: {type: 'boolean'}}});
  if (!which('clang++')) throw new Failure('clang++ with libFuzzer is not in PATH. Debian: apt-get install clang libclang-rt-dev');
  const chosen = values.target ? [values.target] : targets;
  for (const target of chosen) fuzz(target, Math.max(1, Math.floor(Number(values.seconds) / chosen.length)), values.keep);
});
