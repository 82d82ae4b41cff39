// What confinement costs: at the start of a session, for work inside it, and for each connect.
import {spawn as spawnProcess} from 'node:child_process';
import {createReadStream, mkdtempSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {now, percentile, sleep} from '../lib/meters.mjs';
import {exited, touchHeap} from '../lib/sessions.mjs';
import {treeFor} from '../lib/trees.mjs';

const kWarmUps = 3;
const env = {PATH: '/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/nonexistent', LANG: 'C.UTF-8'};

/** An implementation without a sandbox (node-pty) starts the same program unconfined. */
function starter(pty, projectDir, profile) {
  if (!pty.createSandboxedPty) return (file, args) => pty.spawn(file, args, {cwd: projectDir, env});
  const sandbox = profile && {enabled: true, profile};
  return (file, args) => pty.createSandboxedPty({file, args, projectDir, cwd: projectDir, env, home: env.HOME, sandbox});
}

async function inProject(body) {
  const projectDir = mkdtempSync(join(tmpdir(), 'pty-bench-'));
  try {
    return await body(projectDir);
  } finally {
    rmSync(projectDir, {recursive: true, force: true});
  }
}

async function timeStarts({count, gap}, start) {
  const [calls, exits] = [[], []];
  for (let i = -kWarmUps; i < count; i++) {
    await sleep(gap);
    const t0 = now();
    const ended = start();
    const t1 = now();
    await ended;
    const t2 = now();
    if (i < 0) continue;
    calls.push(t1 - t0);
    exits.push(t2 - t0);
  }
  return {call_p50_ms: percentile(calls, 0.5), exit_p50_ms: percentile(exits, 0.5), exit_p95_ms: percentile(exits, 0.95)};
}

export function confinedSpawn(pty, parameters) {
  touchHeap(parameters.heap);
  return inProject((projectDir) => {
    const start = starter(pty, projectDir, parameters.profile ?? 'terminal');
    return timeStarts(parameters, () => exited(start('/bin/true', [])));
  });
}

/** The same for a sandbox that is a program: `command` is it and /bin/true. */
export function commandSpawn(_pty, parameters) {
  const [file, ...args] = parameters.command;
  return inProject((cwd) => timeStarts(parameters, () => new Promise((resolve, reject) => {
    const child = spawnProcess(file, args, {cwd, stdio: 'ignore'});
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${file} ended with ${code}`))));
  })));
}

async function outputOf(terminal) {
  let text = '';
  terminal.onData((data) => (text += data));
  const {exitCode} = await exited(terminal);
  if (exitCode !== 0) throw new Error(`the task ended with ${exitCode}: ${text.slice(-500)}`);
  return text;
}

/** Serves a directory's files on the loopback address. */
async function serve(directory) {
  const server = createServer((request, response) => {
    const file = createReadStream(join(directory, new URL(request.url, 'http://localhost').pathname));
    file.on('error', () => response.writeHead(404).end('{}'));
    file.on('open', () => file.pipe(response));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Work that fetches something: SERVER in the command is an address where the tree's files are. */
export async function fetching(pty, parameters) {
  const server = await serve(treeFor(parameters.tree));
  try {
    const url = `http://127.0.0.1:${server.address().port}`;
    return await work(pty, {...parameters, command: parameters.command.replaceAll('SERVER', url)});
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** The shell inside takes the time, so that only the work counts, not the start of the session. */
export async function work(pty, {tree, command, repeat, outside}) {
  const directory = treeFor(tree);
  const start = starter(pty, directory, outside ? undefined : 'terminal');
  const script = `
    for i in $(seq 0 ${repeat}); do
      begin=$EPOCHREALTIME
      { ${command}; } > /dev/null || exit
      end=$EPOCHREALTIME
      [ $i = 0 ] || echo "$((\${end/./} - \${begin/./}))"
    done`;
  const text = await outputOf(start('/bin/bash', ['--norc', '-c', script]));
  return {p50_ms: percentile(text.trim().split(/\s+/).map(Number), 0.5) / 1000};
}

/** Inside and outside in turn, in one process: what the keeper's answer adds to a connect. */
export function connect(pty, {program, count, turns}) {
  return inProject(async (projectDir) => {
    const sandbox = {enabled: true, additional_executable_paths: [program]};
    const run = async (settings) => {
      const options = {file: program, args: [String(count)], projectDir, cwd: projectDir, env, home: env.HOME};
      return JSON.parse(await outputOf(pty.createSandboxedPty({...options, sandbox: settings})));
    };
    const [inside, outside] = [[], []];
    for (let i = 0; i < turns; i++) {
      inside.push(await run(sandbox));
      outside.push(await run(undefined));
    }
    const median = (runs, key) => percentile(runs.map((entry) => entry[key]), 0.5);
    const result = {};
    for (const key of ['unix_us', 'tcp_us']) {
      result[`${key}_inside`] = median(inside, key);
      result[`${key}_outside`] = median(outside, key);
      result[`${key}_added`] = median(inside, key) - median(outside, key);
    }
    return result;
  });
}
