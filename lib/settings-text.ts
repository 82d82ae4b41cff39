import { Problem, SettingsError } from './settings-error';
import type { Layer } from './settings-types';

function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** As deep as the parser goes (native/settings/json_parse.h): deeper, and we would run out of stack before it is asked. */
const maxDepth = 64;

/** What JSON.stringify would drop or turn into null without a word: found before it does. */
function findUnspeakable(value: unknown, pointer: string, parents: object[]): Omit<Problem, 'layer'> | undefined {
  const problem = (message: string): Omit<Problem, 'layer'> => ({ code: 'ERR_SETTINGS', pointer, message });
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : problem(`This must be a finite number, not ${String(value)}.`);
  }
  if (typeof value !== 'object') return problem(`Settings are JSON, which has no ${typeof value}.`);
  if (parents.includes(value)) return problem('The settings contain themselves.');
  if (parents.length >= maxDepth) return problem(`The settings are nested more than ${maxDepth} deep.`);
  const isArray = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    // An undefined member is an absent one; an undefined element would become null.
    if (item === undefined && !isArray) continue;
    const found = findUnspeakable(item, `${pointer}/${escapeToken(key)}`, [...parents, value]);
    if (found) return found;
  }
  return undefined;
}

/** Whether `value` would be written as what `copy`, which JSON.parse made, was read from. When in doubt: no. */
function isSame(value: unknown, copy: unknown): boolean {
  if (typeof copy !== 'object' || copy === null) return value === copy;
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(copy)) return false;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  if (Array.isArray(copy)) {
    const list = value as unknown[];
    return list.length === copy.length && copy.every((item, index) => isSame(list[index], item));
  }
  let members = 0;
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined) continue;
    if (!Object.hasOwn(copy, key) || !isSame(item, (copy as Record<string, unknown>)[key])) return false;
    members += 1;
  }
  return members === Object.keys(copy).length;
}

/** What an object was when it was written out. A changed object is found out by comparing, so nothing has to be frozen. */
const written = new WeakMap<object, { text: string; copy: unknown }>();

/** The JSON text of a document that may be given as text or as an object. Of the same unchanged object, the same string. */
export function toText(document: string | object, layer: Layer, pointer: string): string {
  if (typeof document === 'string') return document;
  // From JavaScript anything may come; what is no object is for the parser to refuse.
  const isObject = typeof document === 'object' && document !== null;
  const known = isObject ? written.get(document) : undefined;
  if (known && isSame(document, known.copy)) return known.text;
  const problem = findUnspeakable(document, pointer, []);
  if (problem) throw new SettingsError([{ ...problem, layer }]);
  const text = JSON.stringify(document);
  if (isObject) written.set(document, { text, copy: JSON.parse(text) as unknown });
  return text;
}
