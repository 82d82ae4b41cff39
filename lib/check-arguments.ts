import { types } from 'util';

/**
 * Checks of what a caller hands over. A policy is no place for guesses: an option of the wrong type, or a word that
 * nobody knows, must not quietly mean "as if it were absent". undefined is absent; nothing else is.
 */

function wrong(code: string, message: string): TypeError {
  return Object.assign(new TypeError(message), { code });
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}

function expect(condition: boolean, name: string, type: string, value: unknown): void {
  if (!condition) throw wrong('ERR_INVALID_ARG_TYPE', `${name} must be ${type} (it is ${show(value)})`);
}

export function checkText(name: string, value: unknown): void {
  expect(value === undefined || typeof value === 'string', name, 'a string', value);
}

export function checkFlag(name: string, value: unknown): void {
  expect(value === undefined || typeof value === 'boolean', name, 'true or false', value);
}

export function checkTexts(name: string, value: unknown): void {
  const fine = value === undefined || (Array.isArray(value) && value.every((each) => typeof each === 'string'));
  expect(fine, name, 'an array of strings', value);
}

/** Values are strings or bytes; undefined ones are absent. */
export function checkEnvironment(name: string, value: unknown): void {
  if (value === undefined) return;
  expect(typeof value === 'object' && value !== null && !Array.isArray(value), name, 'an object', value);
  for (const [variable, text] of Object.entries(value as object) as [string, unknown][]) {
    const fine = text === undefined || typeof text === 'string' || types.isUint8Array(text);
    expect(fine, `${name}.${variable}`, 'a string or a Uint8Array', text);
  }
}

export function checkWord(name: string, value: unknown, words: readonly string[]): void {
  if (value === undefined || (typeof value === 'string' && words.includes(value))) return;
  const known = words.map((word) => `'${word}'`).join(', ');
  throw wrong('ERR_INVALID_ARG_VALUE', `${name} must be one of ${known} (it is ${show(value)})`);
}

export function checkKind(value: unknown): void {
  checkWord('kind', value, ['terminal', 'tool']);
}

/** Two options that contradict each other, or of which one would be ignored. */
export function refuseBoth(message: string): never {
  throw wrong('ERR_INVALID_ARG_VALUE', message);
}
