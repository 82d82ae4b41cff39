import { SandboxError } from './errors';
import type { Environment } from './policy';

/** What counts of the settings where nothing but the environment can be restricted. */
export interface UnconfinedSettings {
  /** Said in so many words: on a system that confines nothing, a default must not decide that. */
  mayRunUnconfined: boolean;
  /** A variable passes if every list has it. */
  allowedEnv: readonly (readonly string[])[];
  /** Whether any limit is asked for. */
  limits: boolean;
}

type Json = Record<string, unknown>;

// Without these, hardly any program starts on Windows; none of them is a secret.
const windowsNeeds = [
  'SystemRoot',
  'SystemDrive',
  'windir',
  'ComSpec',
  'PATHEXT',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'ProgramData',
  'ProgramFiles*',
  'CommonProgramFiles*',
  'TEMP',
  'TMP',
  'OS',
  'PROCESSOR_*',
  'NUMBER_OF_PROCESSORS',
  'USERNAME',
  'HOMEDRIVE',
  'HOMEPATH',
];

function bad(what: string): SandboxError {
  return new SandboxError(`cannot start the session: ${what}`, { code: 'EINVAL', stage: 'settings', errno: -22 });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The sandbox settings in a document, with its block for Windows on top. Nothing is guessed: what is unclear throws. */
function contentOf(input: unknown, what: string): Json {
  let document = input;
  if (typeof input === 'string') {
    try {
      document = JSON.parse(input) as unknown;
    } catch (error) {
      throw bad(`the ${what} are not JSON (comments are only read on Linux and macOS): ${(error as Error).message}`);
    }
  }
  if (!isObject(document)) throw bad(`the ${what} must be an object or its JSON text`);
  const content = isObject(document['sandbox']) ? document['sandbox'] : document;
  const { windows } = content;
  if (windows !== undefined && windows !== null && !isObject(windows))
    throw bad(`"windows" in the ${what} must be an object`);
  return { ...content, ...(windows ?? {}) };
}

function flag(content: Json, name: string): boolean | undefined {
  const value = content[name] ?? undefined;
  if (value !== undefined && typeof value !== 'boolean') throw bad(`"${name}" must be true or false`);
  return value;
}

function envList(content: Json): string[] | undefined {
  const list = content['allowed_env_vars'] ?? undefined;
  if (list === undefined) return undefined;
  if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list;
  throw bad('"allowed_env_vars" must be a list of names');
}

function defaultEnv(): string[] {
  const schema = require('../schema/settings.schema.json') as { $defs: Record<string, { default?: string[] }> };
  const list = schema.$defs['field_allowed_env_vars']?.default;
  if (!list) throw bad('the schema that came with the package names no default for "allowed_env_vars"');
  return list;
}

function asksForLimits(content: Json): boolean {
  const limits = content['limits'] ?? {};
  if (!isObject(limits)) throw bad('"limits" must be an object');
  return Object.values(limits).some((each) => each !== undefined && each !== null);
}

/** `user` decides; `project`, which came with the repository, can only tighten. */
export function readUnconfinedSettings(user: unknown, project: unknown): UnconfinedSettings {
  const own = contentOf(user, 'sandbox settings');
  const other = project === undefined || project === null ? {} : contentOf(project, "project's settings");
  const tightened = [own, other].some(
    (each) => flag(each, 'strict') === true || flag(each, 'fail_if_unavailable') === true,
  );
  const theirs = envList(other);
  return {
    mayRunUnconfined: flag(own, 'fail_if_unavailable') === false && !tightened,
    allowedEnv: [envList(own) ?? defaultEnv(), ...(theirs ? [theirs] : [])],
    limits: [own, other].some(asksForLimits),
  };
}

/** Names mean the same in capitals and small letters, as they do on Windows. */
function matches(pattern: string, name: string): boolean {
  const [wanted, given] = [pattern.toUpperCase(), name.toUpperCase()];
  return wanted.endsWith('*') ? given.startsWith(wanted.slice(0, -1)) : given === wanted;
}

/** What passes of `env`, and all of `extra`. */
export function filterEnvironment(
  env: Environment,
  extra: Environment,
  { allowedEnv }: UnconfinedSettings,
): Record<string, string> {
  const passes = (name: string): boolean =>
    allowedEnv.every((list) => [...list, ...windowsNeeds].some((pattern) => matches(pattern, name)));
  const result: Record<string, string> = {};
  const entries = [...Object.entries(env).filter(([name]) => passes(name)), ...Object.entries(extra)];
  for (const [name, value] of entries) {
    if (value !== undefined) result[name] = typeof value === 'string' ? value : Buffer.from(value).toString();
  }
  return result;
}
