// clang-tidy, over files that it is told the compile commands of.
import {spawn} from 'node:child_process';
import {availableParallelism} from 'node:os';
import {join} from 'node:path';
import {Failure, root, run, which} from './process.mjs';

// Each run reads the same headers anew; as many files at a time as keep all processors busy until the end.
const filesPerRun = 4;

/** A folder of its own, configured and never built: nobody else's build is disturbed. */
function compileCommands() {
  const dir = join(root, 'build', 'tidy');
  run('cmake', ['-S', root, '-B', dir, '--log-level=WARNING', '-DCMAKE_BUILD_TYPE=Release', `-DSPTY_NODE=${process.execPath}`,
    '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON'], {stdio: ['ignore', 'ignore', 'inherit']});
  return dir;
}

/** Resolves to the findings; '' if there are none. */
function tidyFiles(dir, files) {
  return new Promise((resolve, reject) => {
    // GCC's flags are in the commands, too.
    const child = spawn('clang-tidy', ['-p', dir, '--quiet', '--warnings-as-errors=*', '--extra-arg=-Wno-unknown-warning-option',
      ...files], {cwd: root, stdio: ['ignore', 'pipe', 'pipe']});
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code === 0 ? '' : `${output}\nclang-tidy ${signal ?? `ended with status ${code}`}\n`));
  });
}

export async function tidy(files) {
  if (!which('clang-tidy')) throw new Failure('clang-tidy is not in PATH. Debian: apt-get install clang-tidy');
  if (files.length === 0) throw new Failure('There is no such file for clang-tidy.');
  const dir = compileCommands();
  const left = [...files];
  let findings = '';
  const work = async () => {
    while (left.length > 0) findings += await tidyFiles(dir, left.splice(0, filesPerRun));
  };
  await Promise.all(Array.from({length: availableParallelism()}, work));
  if (findings !== '') throw new Failure(findings);
  console.log(`${files.length} files`);
}
