import { SettingsError } from '../settings-error';
import { SandboxError } from '../errors';
import { printableLines } from './style';

/** The exit codes that are not the program's own; as timeout(1) and env(1) have them. */
export const exitCodes = { usage: 2, timeout: 124, failed: 125, notExecutable: 126, notFound: 127 } as const;

/** Something the user can act on: a line on stderr and an exit code. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failed,
  ) {
    super(message);
  }
}

/** A mistake on the command line. */
export class UsageError extends Failure {
  constructor(message: string) {
    super(`${message}\nTry: sandboxed-pty --help`, exitCodes.usage);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Failure) return error.exitCode;
  if (!(error instanceof SandboxError) || error.stage !== 'exec') return exitCodes.failed;
  return error.code === 'ENOENT' ? exitCodes.notFound : exitCodes.notExecutable;
}

/** Everything that is wrong, a line each. */
export function allProblems(error: SettingsError): string {
  return error.problems.map((problem) => new SettingsError([problem]).message).join('\n');
}

function messageOf(error: unknown): string {
  if (error instanceof SettingsError) return allProblems(error);
  if (error instanceof Failure || error instanceof SandboxError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What to print, and how to end. */
export function describeFailure(error: unknown): { text: string; exitCode: number } {
  return { text: `sandboxed-pty: ${printableLines(messageOf(error))}\n`, exitCode: exitCodeOf(error) };
}
