import { Problem, SettingsError } from './settings-error';
import type { Layer } from './settings-types';

function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** What JSON.stringify would drop or turn into null without a word: found before it does. */
function findUnspeakable(value: unknown, pointer: string, parents: object[]): Omit<Problem, 'layer'> | undefined {
  const problem = (message: string): Omit<Problem, 'layer'> => ({ code: 'ERR_SETTINGS', pointer, message });
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : problem(`This must be a finite number, not ${String(value)}.`);
  }
  if (typeof value !== 'object') return problem(`Settings are JSON, which has no ${typeof value}.`);
  if (parents.includes(value)) return problem('The settings contain themselves.');
  const isArray = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    // An undefined member is an absent one; an undefined element would become null.
    if (item === undefined && !isArray) continue;
    const found = findUnspeakable(item, `${pointer}/${escapeToken(key)}`, [...parents, value]);
    if (found) return found;
  }
  return undefined;
}

/** The JSON text of a document that may be given as text or as an object. */
export function toText(document: string | object, layer: Layer, pointer: string): string {
  if (typeof document === 'string') return document;
  const problem = findUnspeakable(document, pointer, []);
  if (problem) throw new SettingsError([{ ...problem, layer }]);
  return JSON.stringify(document);
}
