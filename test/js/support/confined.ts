// Confined sessions for tests: a project of their own, and settings that name where Node.js is.
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { temporaryDirectory } from './files';
import { load, repositoryRoot, type Exit, type Terminal } from './module';
import { track, type Session } from './sessions';

export interface Protection {
  name: string;
  wanted: boolean;
  enforcedBy?: string;
  missing?: true;
  reason?: string;
}

export interface Confined extends Terminal {
  readonly sandbox: {
    confined: boolean;
    reason?: string;
    backend: string;
    backendMissing?: string;
    landlockAbi: number;
    landlockErrata: number;
    protections: Protection[];
  };
}

/** No credentials to be cut out of anything: where the real home is, and what it holds, must make no difference. */
const home = '/nonexistent';

export const environment = { PATH: '/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8' };

/** A session that runs a shell script in `projectDir`, which is a new directory unless it is given. */
export function confined(script: string, sandbox: unknown = {}, options: object = {}): Session & { pty: Confined } {
  const settings = typeof sandbox === 'object' && sandbox?.constructor === Object ? { enabled: true, ...sandbox } : sandbox;
  const all = {
    file: '/bin/sh',
    args: ['-c', script],
    env: environment,
    home,
    projectDir: 'projectDir' in options ? undefined : temporaryDirectory(),
    sandbox: settings,
    ...options,
  };
  return track(load().createSandboxedPty(all)) as Session & { pty: Confined };
}

export async function runConfined(
  script: string,
  sandbox: unknown = {},
  options: object = {},
): Promise<{ output: string; exit: Exit; report: Confined['sandbox'] }> {
  const session = confined(script, sandbox, options);
  const report = session.pty.sandbox;
  const exit = await session.exit();
  return { output: session.output.replaceAll('\r\n', '\n'), exit, report };
}

/** What the call threw. */
export function thrownBy(call: () => unknown): Error & { code?: string; stage?: string; path?: string; errno?: number } {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

export function protection(report: Confined['sandbox'], name: string): Protection {
  const found = report.protections.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no ${name} in the report`);
  return found;
}

interface FeatureLimits {
  landlockAbi?: number;
  seccomp?: boolean;
  notify?: boolean;
}

/** Sessions started by `body` take the host to offer no more than this. */
export function limitedTo<T>(limits: FeatureLimits, body: () => T): T {
  const { featureLimits } = require(path.join(repositoryRoot, 'dist/feature-limits')) as { featureLimits: FeatureLimits };
  Object.assign(featureLimits, limits);
  try {
    return body();
  } finally {
    for (const name of Object.keys(featureLimits)) delete featureLimits[name as keyof FeatureLimits];
  }
}

/** The private temporary directories that sessions of this process have at the moment. */
export function privateTemps(): string[] {
  return fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith(`sandboxed-pty-${process.pid}-`));
}
