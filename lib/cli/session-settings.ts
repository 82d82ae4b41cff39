import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

import { Environment, Policy, resolvePolicy } from '../policy';
import { plainJson, ResolvedSettings, resolveSettings } from '../settings';
import { SettingsError } from '../settings-error';
import type { SandboxDocument, SessionKind } from '../settings-types';
import { has, Invocation, valueOf } from './arguments';
import { allProblems, Failure, UsageError } from './failure';
import { FlagMerger } from './flag-settings';
import { projectFileName, readSettingsFile, userSettingsPath } from './settings-files';

/** What a command line and the files that it found mean. */
export interface SessionSettings {
  settings: ResolvedSettings;
  projectDir: string;
  kind: SessionKind;
  extraEnv: Environment;
  files: { user?: string; project?: string };
  /** "user:/profile" in a message as a person knows it: the file, or the option. */
  name(text: string): string;
}

const platform = process.platform === 'darwin' ? 'macos' : 'linux';

/**
 * The Node.js that runs us, if it is an installation of its own (a version manager's, a container image's): without it
 * neither npm nor npx would start inside. Only bin and lib, and only if npm is where an installation has it.
 */
function nodeInstallation(): string[] {
  const bin = path.dirname(fs.realpathSync(process.execPath));
  const lib = path.join(path.dirname(bin), 'lib');
  const isInstallation = path.basename(bin) === 'bin' && fs.existsSync(path.join(lib, 'node_modules', 'npm'));
  return isInstallation && bin !== '/usr/bin' ? [bin, lib] : [];
}

function readUserDocument(file: string, required: boolean): Record<string, unknown> | undefined {
  const text = readSettingsFile(file);
  if (text === undefined) {
    if (required) throw new Failure(`there is no settings file ${file}.`);
    return undefined;
  }
  try {
    return JSON.parse(plainJson(text, 'sandbox').replace(/^\uFEFF/, '')) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const lines = error.problems.map(({ pointer, message, suggestion }) =>
      `${file}${pointer === '' ? '' : ` at ${pointer}`}: ${message}${suggestion === undefined ? '' : ` ${suggestion}`}`);
    throw new Failure(lines.join('\n'));
  }
}

function defaultList(key: string, document: Record<string, unknown>): readonly string[] {
  const effective = resolveSettings({ user: document as SandboxDocument, shape: 'sandbox' }).effective();
  return (effective as unknown as Record<string, string[]>)[key] ?? [];
}

/** Names files and options instead of layers and pointers. */
function namer(files: SessionSettings['files'], origins: ReadonlyMap<string, string>): (text: string) => string {
  const place = (layer: string, pointer: string): string => {
    const option = origins.get(pointer) ?? origins.get(pointer.replace(/\/\d+$/, ''));
    if (layer !== 'project' && option !== undefined) return option;
    const file = layer === 'project' ? files.project : files.user;
    if (file === undefined) return 'the command line';
    return pointer === '' ? file : `${file} at ${pointer}`;
  };
  // The three ways in which the library speaks of a setting.
  return (text) =>
    text
      .replace(/\b(user-platform|user|project):(\/[^\s,;()'"]*)/g, (_, layer: string, pointer: string) => place(layer, pointer))
      .replace(/\b(user-platform|user|project) settings at (\/[^\s,;()'"]*?)(?=:? )/g, (_, layer: string, pointer: string) => place(layer, pointer))
      .replace(/(\/[^\s,;()'"]*) \((user-platform|user|project)\)/g, (_, pointer: string, layer: string) => place(layer, pointer))
      .replace(/^the project settings(?=: )/gm, () => files.project ?? 'the project settings')
      .replace('caller settings at /projectDir', '--project')
      .replace(/caller settings at \/home: (.*) Pass home\./, (_, message: string) => `${message} Set HOME.`)
      .replace('set allow_wide_project to true', 'set allow_wide_project to true (--wide-project)');
}

/** Somebody may have removed it while a shell was in it. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new Failure(`the current directory is gone (${(error as NodeJS.ErrnoException).code}). Change to another one.`);
  }
}

function projectOf(invocation: Invocation): string {
  const given = valueOf(invocation, 'project');
  if (given === '') throw new UsageError('--project needs a directory.');
  return path.resolve(given ?? currentDirectory());
}

function kindOf(invocation: Invocation): SessionKind {
  const kind = valueOf(invocation, 'kind') ?? 'terminal';
  if (kind !== 'terminal' && kind !== 'tool') throw new UsageError(`--kind is terminal or tool, not '${kind}'.`);
  return kind;
}

export function loadSettings(invocation: Invocation): SessionSettings {
  const projectDir = projectOf(invocation);
  const without = has(invocation, 'no-settings');
  const given = valueOf(invocation, 'settings');
  if (without && given !== undefined) throw new UsageError('--settings and --no-settings contradict each other.');
  const userFile = path.resolve(given ?? userSettingsPath());
  const projectFile = path.join(projectDir, projectFileName);
  const user = without ? undefined : readUserDocument(userFile, given !== undefined);
  const project = without ? undefined : readSettingsFile(projectFile);
  const files = { ...(user && { user: userFile }), ...(project !== undefined && { project: projectFile }) };
  const merger = new FlagMerger(user ?? {}, platform, defaultList);
  const name = namer(files, merger.origins);
  const merged = named(name, () => merger.merge(invocation));
  addNode(merged.document);
  const settings = named(name, () =>
    resolveSettings({
      user: merged.document as SandboxDocument,
      project: project ?? null,
      shape: 'sandbox',
      projectTrusted: has(invocation, 'trust-project'),
    }),
  );
  const kind = kindOf(invocation);
  const unconfined = whyUnconfined(settings, kind);
  if (merged.needsSandbox !== undefined && unconfined !== undefined) {
    const advice = 'Say --profile terminal (or another), or leave the option out.';
    throw new Failure(`${merged.needsSandbox} asks for a sandbox, but ${name(unconfined)} means none. ${advice}`);
  }
  return { settings, projectDir, kind, extraEnv: merged.environment, files, name };
}

/** Which setting says that the session is not to be confined; undefined: none does. */
function whyUnconfined(settings: ResolvedSettings, kind: SessionKind): string | undefined {
  const values = settings.effective(kind);
  const said: Record<string, boolean> = {
    enabled: !values.enabled,
    profile: values.profile === 'off',
    backend: values.backend === 'noop',
    apply_to: values.apply_to !== 'both' && values.apply_to !== kind,
  };
  const key = Object.keys(said).find((each) => said[each]);
  if (key === undefined) return undefined;
  const { layer, pointer } = settings.origins(kind)[key] as { layer: string; pointer: string };
  return `${layer}:${pointer}`;
}

function addNode(document: Record<string, unknown>): void {
  const block = (document[platform] ?? {}) as Record<string, unknown>;
  const key = 'additional_executable_paths';
  const holder = Array.isArray(block[key]) ? block : document;
  const listed = Array.isArray(holder[key]) ? (holder[key] as string[]) : [];
  const added = nodeInstallation().filter((directory) => !listed.includes(directory));
  if (added.length > 0) holder[key] = [...listed, ...added];
}

/** Runs something whose errors speak of layers, and lets them speak of files and options. */
export function named<T>(name: (text: string) => string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof SettingsError) throw new Failure(name(allProblems(error)));
    if (error instanceof Error) error.message = name(error.message);
    throw error;
  }
}

/** Its policy; for a session the library makes one itself. */
export function loadPolicy(session: SessionSettings): Policy {
  const { settings, projectDir, kind, extraEnv, name } = session;
  return named(name, () => resolvePolicy({ settings, projectDir, kind, extraEnv, term: process.env['TERM'] ?? 'xterm', home: os.homedir() }));
}
