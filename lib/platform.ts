import { SandboxError } from './errors';

/** The system that this runs on. For tests of systems without a native part: a change counts for what comes after it. */
export const platform: { name: string } = { name: process.platform };

export function hasNativePart(): boolean {
  return platform.name === 'linux' || platform.name === 'darwin';
}

export function systemName(): string {
  return platform.name === 'win32' ? 'Windows' : platform.name;
}

/** What there is no native part for. */
export function unsupported(more = ''): SandboxError {
  return new SandboxError(
    `sandboxed-pty confines and tracks sessions on Linux and macOS; there is nothing of the kind for ${systemName()}. ` +
      `On Windows, run it inside WSL 2, where everything works as on Linux.${more && ` ${more}`}`,
    { code: 'ENOTSUP', stage: 'platform', errno: -4049 },
  );
}
