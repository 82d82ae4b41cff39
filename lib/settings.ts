import { checkFlag, checkKind, checkText, checkWord } from './check-arguments';
import { throwProblems } from './settings-error';
import { NativeDocument, NativeHandle, nativeSettings } from './settings-native';
import { toText } from './settings-text';
import type {
  EditorDocument,
  EffectiveSettings,
  Layer,
  Origin,
  Platform,
  Refusal,
  SandboxDocument,
  SandboxPermissions,
} from './settings-types';

/** The text of a settings.json (comments and trailing commas are fine), or what is in it. */
export type SettingsInput = string | SandboxDocument | EditorDocument;

export interface SettingsLayers {
  user?: SettingsInput | null;
  /** From the repository. Unless `projectTrusted` is set it can only tighten. */
  project?: SettingsInput | null;
  /** What was approved for this session. */
  permissions?: string | SandboxPermissions | null;
  /** Default: this one. Node's names of platforms are understood too. */
  platform?: Platform | 'darwin' | 'win32';
  projectTrusted?: boolean;
  /**
   * Whether `user` and `project` are whole settings documents of an editor or the sandbox settings themselves.
   * 'auto' (the default) looks for a "terminal" or "agent" section; a document with neither is taken for the sandbox
   * settings, in which every unknown key is an error.
   */
  shape?: 'auto' | 'editor' | 'sandbox';
  /** Where the caller keeps `user`; put in front of its pointers. */
  userPointer?: string;
}

/** Settings after all layers. Immutable; hand it to resolvePolicy() as often as you like, parsing is done. */
export class ResolvedSettings {
  /** What an untrusted project asked for and did not get. */
  readonly refused: readonly Refusal[];
  readonly #handle: NativeHandle;
  readonly #parsed: Partial<Record<'terminal' | 'tool', { values: EffectiveSettings; origins: unknown }>> = {};

  /** @internal */
  constructor(handle: NativeHandle, refused: string) {
    this.#handle = handle;
    this.refused = Object.freeze(JSON.parse(refused) as Refusal[]);
    Object.freeze(this);
  }

  /** The settings in force. A tool also has what agent.sandbox_permissions approved. */
  effective(kind: 'terminal' | 'tool' = 'terminal'): EffectiveSettings {
    return this.#view(kind).values;
  }

  /** Where each of them came from, in the same shape. */
  origins(kind: 'terminal' | 'tool' = 'terminal'): Record<string, Origin | Record<string, Origin>> {
    return this.#view(kind).origins as Record<string, Origin | Record<string, Origin>>;
  }

  #view(kind: 'terminal' | 'tool'): { values: EffectiveSettings; origins: unknown } {
    checkKind(kind);
    return (this.#parsed[kind] ??= JSON.parse(nativeSettings().describeSettings(this.#handle, kind)) as {
      values: EffectiveSettings;
      origins: unknown;
    });
  }

  /** @internal */
  static handleOf(settings: ResolvedSettings): NativeHandle {
    return settings.#handle;
  }
}

const platforms: Readonly<Record<string, Platform>> = {
  linux: 'linux',
  macos: 'macos',
  darwin: 'macos',
  windows: 'windows',
  win32: 'windows',
};

const shapes = ['auto', 'editor', 'sandbox'] as const;

function platformOf(given: string | undefined): Platform {
  if (given !== undefined) checkWord('platform', given, Object.keys(platforms));
  return platforms[given ?? process.platform] ?? 'linux';
}

function toDocument(
  document: string | object | null | undefined,
  layer: Layer,
  shape: NativeDocument['shape'],
  pointer = '',
): NativeDocument | undefined {
  if (document === null || document === undefined) return undefined;
  return { text: toText(document, layer, pointer), pointer, shape };
}

interface Layers {
  user: NativeDocument | undefined;
  project: NativeDocument | undefined;
  permissions: NativeDocument | undefined;
  platform: Platform;
  projectTrusted: boolean;
}

function isSameDocument(a: NativeDocument | undefined, b: NativeDocument | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  // Of an object that was handed over before, `text` is the very same string: nothing is compared.
  return a.text === b.text && a.pointer === b.pointer && a.shape === b.shape;
}

function isSameInput(a: Layers, b: Layers): boolean {
  return (
    a.platform === b.platform &&
    a.projectTrusted === b.projectTrusted &&
    isSameDocument(a.user, b.user) &&
    isSameDocument(a.project, b.project) &&
    isSameDocument(a.permissions, b.permissions)
  );
}

/** The same settings give the same object: an editor that spawns often parses once. Last used first. */
const cache: { input: Layers; resolved: ResolvedSettings }[] = [];
const cacheSize = 32;

function findKnown(input: Layers): ResolvedSettings | undefined {
  const index = cache.findIndex((entry) => isSameInput(entry.input, input));
  if (index < 0) return undefined;
  if (index > 0) cache.unshift(...cache.splice(index, 1));
  return cache[0]?.resolved;
}

/**
 * defaults < user < the user's platform block < project < permissions.
 * Throws a SettingsError that names every mistake by its place.
 */
export function resolveSettings(layers: SettingsLayers = {}): ResolvedSettings {
  if (typeof layers !== 'object' || layers === null || Array.isArray(layers)) {
    throw new TypeError('resolveSettings() takes one object: {user, project, permissions, ...}');
  }
  checkWord('shape', layers.shape, shapes);
  checkText('userPointer', layers.userPointer);
  checkFlag('projectTrusted', layers.projectTrusted);
  const shape = layers.shape ?? 'auto';
  const input: Layers = {
    user: toDocument(layers.user, 'user', shape, layers.userPointer),
    project: toDocument(layers.project, 'project', shape),
    permissions: toDocument(layers.permissions, 'permissions', 'permissions'),
    platform: platformOf(layers.platform),
    projectTrusted: layers.projectTrusted === true,
  };
  const known = findKnown(input);
  if (known) return known;
  const result = nativeSettings().resolveSettings(input);
  throwProblems(result);
  const resolved = new ResolvedSettings(result.handle, result.refused);
  cache.unshift({ input, resolved });
  if (cache.length > cacheSize) cache.pop();
  return resolved;
}

/** Checks one document and throws a SettingsError with everything that is wrong in it. */
export function checkSettings(
  document: string | object,
  shape: 'auto' | 'editor' | 'sandbox' | 'permissions' = 'auto',
): void {
  plainJson(document, shape);
}

/** The document without comments and trailing commas, as the native side reads it: there is no second opinion on what it says. */
export function plainJson(document: string | object, shape: 'auto' | 'editor' | 'sandbox' | 'permissions'): string {
  checkWord('shape', shape, [...shapes, 'permissions']);
  const parsed = nativeSettings().parse({ text: toText(document, 'user', ''), pointer: '', shape });
  throwProblems(parsed);
  return parsed.plain;
}
