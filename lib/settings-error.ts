import { SandboxError } from './errors';
import type { Layer } from './settings-types';

/** One thing that is wrong, for a person and for a program. */
export interface Problem {
  code: 'ERR_SETTINGS' | 'ERR_POLICY';
  layer: Layer;
  /** RFC 6901, relative to the document as it was handed over. */
  pointer: string;
  message: string;
  /** What to do about it. */
  suggestion?: string;
  /** ERR_POLICY only: the file concerned and the system's error. */
  path?: string;
  systemCode?: string;
  errno?: number;
}

/** Settings that are wrong (ERR_SETTINGS), or that do not fit this project or machine (ERR_POLICY). */
export class SettingsError extends SandboxError {
  readonly pointer: string;
  readonly layer: Layer;
  readonly suggestion?: string;
  /** Everything that was found; the first one is this error. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly [Problem, ...Problem[]]) {
    const [first] = problems;
    const where = first.pointer === '' ? `the ${first.layer} settings` : `${first.layer} settings at ${first.pointer}`;
    const advice = first.suggestion === undefined ? '' : ` ${first.suggestion}`;
    super(`${where}: ${first.message}${advice}`, {
      code: first.code,
      stage: first.code === 'ERR_SETTINGS' ? 'settings' : 'policy',
      errno: -(first.errno ?? 22),
      ...(first.path === undefined ? {} : { path: first.path }),
    });
    this.name = 'SettingsError';
    this.pointer = first.pointer;
    this.layer = first.layer;
    if (first.suggestion !== undefined) this.suggestion = first.suggestion;
    this.problems = problems;
  }
}

/** Throws what the addon found, if anything. */
export function throwProblems<T extends { errors?: string }>(
  result: T,
): asserts result is Exclude<T, { errors: string }> {
  if (result.errors !== undefined) throw new SettingsError(JSON.parse(result.errors) as [Problem, ...Problem[]]);
}
