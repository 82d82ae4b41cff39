import type { DisposeOptions, DisposeReport, ProcessInfo, Tracking } from './disposal';
import type { Enforcement, ProtectionReport } from './enforcement';
import { EventSource } from './event';
import type { Violation, Warning } from './notices';
import type { SpawnOptions } from './options';
import { systemName, unsupported } from './platform';
import type { Protection } from './policy';
import type { SandboxOptions } from './sandbox';
import type { Terminal } from './terminal';
import { filterEnvironment, readUnconfinedSettings, UnconfinedSettings } from './unconfined-settings';

/** What is used of a node-pty terminal. */
interface NodePtyTerminal {
  kill(signal?: string): void;
  onExit(listener: (exit: { exitCode: number; signal?: number }) => void): unknown;
}

interface NodePty {
  spawn(file: string, args: string[] | string, options: SpawnOptions): NodePtyTerminal;
}

function loadNodePty(): NodePty | undefined {
  try {
    const found = require('node-pty') as NodePty & { createSandboxedPty?: unknown };
    // With an npm alias, that name is this package itself.
    return found.createSandboxedPty === undefined ? found : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

function requireNodePty(): NodePty {
  const found = loadNodePty();
  if (found) return found;
  throw unsupported('For terminals without a sandbox, install the package node-pty beside this one.');
}

/** What some settings ask for. Which of them do is decided by the native part; without it all of them count as asked for. */
const protections: Protection[] = [
  'files',
  'read-holes',
  'write-holes',
  'private-temp',
  'private-pty',
  'unix-sockets',
  'outsiders',
  'network',
  'syscalls',
  'privileges',
  'descriptors',
];

/** Without settings nothing was asked for. */
function enforcementOf(settings?: UnconfinedSettings): Enforcement {
  const reason = `${systemName()} has no mechanism that this library can use; the session runs on node-pty`;
  const missing = protections.map((name): ProtectionReport => ({ name, wanted: true, missing: true, reason }));
  const limits: ProtectionReport = settings?.limits
    ? { name: 'limits', wanted: true, missing: true, reason }
    : { name: 'limits', wanted: false };
  return {
    confined: false,
    reason,
    backend: 'none',
    landlockAbi: 0,
    landlockErrata: 0,
    protections: settings ? [...missing, limits, { name: 'environment', wanted: true, enforcedBy: 'filter' }] : [],
  };
}

const nobodyCounts = 'node-pty ends the terminal; what left it is not tracked on this system';

/** Adds what a SandboxedPty has and a node-pty terminal has not. Nothing is claimed that is not so. */
function adorn(terminal: NodePtyTerminal, enforcement: Enforcement): Terminal {
  let exited = false;
  let disposal: Promise<DisposeReport> | undefined;
  const ended = new Promise<void>((resolve) => {
    terminal.onExit(() => {
      exited = true;
      resolve();
    });
  });
  const dispose = async ({ deadlineMs = 5000 }: DisposeOptions = {}): Promise<DisposeReport> => {
    const begin = Date.now();
    const running = !exited;
    if (running) terminal.kill();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([ended, new Promise((resolve) => (timer = setTimeout(resolve, deadlineMs)))]);
    clearTimeout(timer);
    return {
      converged: false,
      rounds: 1,
      killed: running && exited ? 1 : 0,
      survivors: [],
      elapsedMs: Date.now() - begin,
      mechanisms: [],
      problem: exited ? nobodyCounts : `the shell has not ended; ${nobodyCounts}`,
    };
  };
  const once = (options?: DisposeOptions): Promise<DisposeReport> => {
    if (options === null || (options !== undefined && typeof options !== 'object'))
      return Promise.reject(new TypeError('dispose() takes an object: {deadlineMs}'));
    return (disposal ??= dispose(options));
  };
  const warnings = new EventSource<Warning>();
  // As late as the warnings of other sessions: who subscribes in this tick hears it.
  setImmediate(() => warnings.fire({ code: 'WEAK_TRACKING', message: nobodyCounts }));
  return Object.defineProperties(terminal, {
    onWarning: { value: warnings.event },
    // There are no limits to run into: the report says that none is kept.
    onViolation: { value: new EventSource<Violation>().event },
    sandbox: { get: (): Enforcement => enforcement },
    tracking: { get: (): Tracking => ({ mechanisms: [], noCgroup: nobodyCounts }) },
    listProcesses: {
      value: (): ProcessInfo[] => {
        throw unsupported();
      },
    },
    dispose: { value: once },
    [Symbol.asyncDispose]: { value: () => once().then(() => undefined) },
  }) as unknown as Terminal;
}

/** spawn() where there is no native part: it confines nothing anywhere, so that node-pty itself will do. */
export function spawnOnNodePty(
  file: string | undefined,
  args: string[] | string | undefined,
  options: SpawnOptions,
): Terminal {
  const shell = file || process.env['COMSPEC'] || 'sh';
  return adorn(requireNodePty().spawn(shell, args ?? [], options), enforcementOf());
}

let warned = false;

/** createSandboxedPty() where there is no native part: only with settings that say in so many words that it may be so. */
export function createOnNodePty(options: SpawnOptions & SandboxOptions & { file?: string; args?: string[] }): Terminal {
  const { sandbox, projectSettings, extraEnv, projectDir, ...plain } = options;
  if (sandbox === undefined || sandbox === null) throw unsupported('spawn() starts a terminal without any of it.');
  const settings = readUnconfinedSettings(sandbox, projectSettings);
  if (!settings.mayRunUnconfined) {
    throw unsupported('With "fail_if_unavailable": false, and not "strict", sessions run unconfined on node-pty.');
  }
  const nodePty = requireNodePty();
  const given = options.env ?? process.env;
  const env = filterEnvironment(given, extraEnv ?? {}, settings);
  const file = options.file || given['COMSPEC'] || given['SHELL'] || 'sh';
  const cwd = options.cwd || projectDir || process.cwd();
  const terminal = adorn(nodePty.spawn(file, options.args ?? [], { ...plain, cwd, env }), enforcementOf(settings));
  if (!warned) process.emitWarning(`Sessions run unconfined: ${terminal.sandbox.reason}`, 'SandboxWarning');
  warned = true;
  return terminal;
}
