// Fresh node processes ("hosts") for scenarios that would disturb the test runner or need its absence.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import * as path from 'node:path';
import { modulePath, type PtyModule } from './module';
import { within } from './processes';

type Processes = typeof import('./processes');

export interface HostEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** What the body returned. */
  result: any;
}

export interface HostOptions {
  arg?: unknown;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Run instead of node itself, followed by node's own command line. */
  through?: readonly string[];
  /** Descriptors that the host inherits, by number in the host. */
  inherit?: Readonly<Record<number, number>>;
  nodeArgs?: readonly string[];
  /** The module that the body gets, if not the one under test. */
  module?: string;
}

/**
 * The body runs in another process: it sees its parameters, globals and `require`, and nothing else of the test file.
 */
export type Body = (pty: PtyModule, kernel: Processes, arg: any) => unknown;

const running = new Set<ChildProcess>();
const resultFd = 3;
/** More than what is waited for inside. */
const hostPatienceMs = 70_000;

function source(body: Body, arg: unknown, module: string = modulePath): string {
  return [
    `const pty = require(${JSON.stringify(module)});`,
    `const kernel = require(${JSON.stringify(path.join(__dirname, 'processes.js'))});`,
    `Promise.resolve((${body.toString()})(pty, kernel, ${JSON.stringify(arg) ?? 'undefined'})).then((result) => {`,
    `  if (result !== undefined) require('node:fs').writeSync(${resultFd}, JSON.stringify(result));`,
    `});`,
  ].join('\n');
}

export class Host {
  stdout = '';
  stderr = '';
  private result = '';
  readonly ended: Promise<HostEnd>;
  private readonly child: ChildProcess;
  private onOutput: () => void = () => {};

  constructor(body: Body | string, options: HostOptions) {
    const highest = Math.max(resultFd, ...Object.keys(options.inherit ?? {}).map(Number));
    const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', 'pipe'];
    for (let fd = resultFd + 1; fd <= highest; fd++) stdio.push(options.inherit?.[fd] ?? 'ignore');
    const code = typeof body === 'string' ? body : source(body, options.arg, options.module);
    const command = [...(options.through ?? []), process.execPath, ...(options.nodeArgs ?? []), '-e', code];
    this.child = spawn(command[0] as string, command.slice(1), { stdio, env: options.env ?? process.env, cwd: options.cwd });
    running.add(this.child);
    this.child.stdout?.on('data', (chunk: Buffer) => this.heard('stdout', chunk));
    this.child.stderr?.on('data', (chunk: Buffer) => this.heard('stderr', chunk));
    this.child.stdio[resultFd]?.on('data', (chunk: Buffer) => (this.result += chunk.toString()));
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('close', (code, signal) => {
        running.delete(this.child);
        const result = this.result === '' ? undefined : JSON.parse(this.result);
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr, result });
      });
    });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  say(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async printed(text: string): Promise<void> {
    const seen = new Promise<void>((resolve, reject) => {
      this.onOutput = () => this.stdout.includes(text) && resolve();
      this.onOutput();
      void this.ended.then(() => reject(new Error(`host ended without printing ${text}: ${this.stdout}${this.stderr}`)));
    });
    await within(text, seen, () => `from the host: ${this.stdout}${this.stderr}`);
  }

  end(): Promise<HostEnd> {
    return within('the host to end', this.ended, () => `; it printed ${this.stdout}${this.stderr}`, hostPatienceMs);
  }

  private heard(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this[stream] += chunk.toString();
    this.onOutput();
  }
}

export function startHost(body: Body | string, options: HostOptions = {}): Host {
  return new Host(body, options);
}

/** Runs a host to its own end. */
export function host(body: Body | string, options: HostOptions = {}): Promise<HostEnd> {
  return startHost(body, options).end();
}

/** Runs a host that must end by itself, with code 0 and nothing on stderr; gives the body's result. */
export async function resultOf(body: Body | string, options: HostOptions = {}): Promise<any> {
  const end = await host(body, options);
  expect({ code: end.code, signal: end.signal, stderr: end.stderr }).toEqual({ code: 0, signal: null, stderr: '' });
  return end.result;
}

export async function endHosts(): Promise<void> {
  const left = [...running];
  for (const child of left) child.kill('SIGKILL');
  await Promise.all(left.map((child) => new Promise((resolve) => child.once('close', resolve))));
}
