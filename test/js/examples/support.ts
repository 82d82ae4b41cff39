// The web terminal as its users have it: a server in a process of its own, and a real browser.
import { spawn, type ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { environment, repositoryRoot, temporaryDirectory, within, type Need } from '../support';

const exampleDir = path.join(repositoryRoot, 'examples/web-terminal');
const requireFromExample = createRequire(path.join(exampleDir, 'package.json'));

const isInstalled = (name: string): boolean => fs.existsSync(path.join(exampleDir, 'node_modules', name, 'package.json'));

const browserPath = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .flatMap((dir) => ['chromium', 'google-chrome'].map((name) => path.join(dir, name)))
  .find((file) => fs.existsSync(file));

export const dependencies: Need = {
  met: ['express', 'ws', 'playwright-core'].every(isInstalled),
  reason: "needs the example's dependencies (npm run test:example)",
};
export const browser: Need = { met: browserPath !== undefined, reason: 'needs chromium' };

// Their typings are where they are: not in this package.
export type Browser = any;
export type Page = any;

export function launchBrowser(): Promise<Browser> {
  // Its own sandbox does not work for root, nor without user namespaces. It shows nothing but our pages here.
  return requireFromExample('playwright-core').chromium.launch({ executablePath: browserPath, chromiumSandbox: false });
}

export class WebServer {
  stdout = '';
  stderr = '';
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  private readonly child: ChildProcess;
  private onOutput: () => void = () => {};

  constructor(args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
    const env = { ...environment, SHELL: '/bin/sh', TMPDIR: process.env['TMPDIR'], ...options.env };
    const command = [path.join(exampleDir, 'server.mjs'), ...args];
    this.child = spawn(process.execPath, command, { cwd: options.cwd ?? '/', env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const name of ['stdout', 'stderr'] as const) {
      this.child[name]?.on('data', (chunk: Buffer) => {
        this[name] += chunk.toString();
        this.onOutput();
      });
    }
    this.ended = new Promise((resolve) => this.child.on('close', (code, signal) => resolve({ code, signal })));
  }

  /** The address with the token, once it is printed. */
  async url(): Promise<URL> {
    const printed = new Promise<string>((resolve, reject) => {
      this.onOutput = () => {
        const found = /http:\S+(?=\n)/.exec(this.stdout);
        if (found) resolve(found[0]);
      };
      this.onOutput();
      void this.ended.then(() => reject(new Error(`the server ended: ${this.stdout}${this.stderr}`)));
    });
    return new URL(await within('the address', printed));
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<{ code: number | null; signal: string | null }> {
    this.child.kill(signal);
    return within('the server to end', this.ended, () => `after ${this.stdout}${this.stderr}`);
  }
}

export interface ServerOptions {
  env?: NodeJS.ProcessEnv;
  projectDir?: string;
}

type WithServer<T> = (server: WebServer, url: URL, projectDir: string) => Promise<T>;

/** Runs `body` with a server whose sessions work in `projectDir`, which is a new directory unless it is given. */
export async function withServer<T>(body: WithServer<T>, { env, projectDir = temporaryDirectory() }: ServerOptions = {}): Promise<T> {
  const server = new WebServer([projectDir], { env });
  try {
    return await body(server, await server.url(), projectDir);
  } finally {
    await server.end();
  }
}

/** The status of an answer; 101 if a socket was opened, which is closed again. */
export function statusOf(url: URL, target: string, headers: http.OutgoingHttpHeaders = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: url.hostname, port: url.port, path: target, headers, agent: false });
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    request.on('error', reject);
  });
}

/** What a browser sends to open a socket. */
export const upgrade = (origin: string | undefined): http.OutgoingHttpHeaders => ({
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  ...(origin !== undefined && { Origin: origin }),
});

/** A client that is no page, and keeps to no rule but those that a test makes. */
export class BareClient {
  bytes = 0;
  output = '';
  readonly messages: any[] = [];
  readonly closed: Promise<number>;
  private readonly opened: Promise<void>;
  private readonly socket: any;
  private onMessage: () => void = () => {};

  constructor(url: URL) {
    const { WebSocket } = requireFromExample('ws');
    this.socket = new WebSocket(`ws://${url.host}/session${url.search}`, { origin: url.origin });
    this.socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) {
        this.bytes += data.length;
        this.output += data.toString('latin1');
      } else {
        this.messages.push(JSON.parse(data.toString()));
      }
      this.onMessage();
    });
    this.socket.on('error', () => {}); // 'close' follows
    this.opened = new Promise((resolve) => this.socket.on('open', resolve));
    this.closed = new Promise((resolve) => this.socket.on('close', resolve));
  }

  async open(): Promise<this> {
    await within('the socket', this.opened);
    return this;
  }

  send(message: object | string | Buffer): void {
    this.socket.send(typeof message === 'object' && !Buffer.isBuffer(message) ? JSON.stringify(message) : message);
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    const seen = new Promise<void>((resolve, reject) => {
      this.onMessage = () => condition() && resolve();
      this.onMessage();
      void this.closed.then((code) => reject(new Error(`the socket was closed with ${code} before ${what}`)));
    });
    await within(what, seen, () => `after ${this.output.slice(-400)}`);
  }

  of(type: string): any[] {
    return this.messages.filter((message) => message.type === type);
  }

  /** Starts the session; its shell's pid. */
  async start(): Promise<number> {
    await this.open();
    this.send({ type: 'start', cols: 80, rows: 24 });
    await this.until('the list of processes', () => this.of('processes').length > 0);
    return this.of('processes')[0].list[0].pid;
  }

  close(): void {
    this.socket.close();
  }
}
