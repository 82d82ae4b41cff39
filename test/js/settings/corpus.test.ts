// The corpus, judged by the JSON schema, by the typings and by the library through its JavaScript face.
import * as fs from 'fs';
import * as path from 'path';

import Ajv2020 from 'ajv/dist/2020';

import { complaintsOf } from './type-check';

const root = path.join(__dirname, '..', '..', '..');
const { checkSettings } = require(path.join(root, 'dist', 'settings.js')) as typeof import('../../../dist/settings');

interface Case {
  name: string;
  shape: 'sandbox' | 'editor' | 'permissions';
  text: string;
  valid: boolean;
  level?: 'syntax' | 'structure' | 'value';
  pointer?: string;
}

function readCases(file: string): Case[] {
  return JSON.parse(fs.readFileSync(path.join(root, 'test', 'settings-corpus', file), 'utf8')) as Case[];
}

const generated = readCases('generated.json');
const written = readCases('written.json');

function describeCase(one: Case): string {
  return `${one.name}: ${one.text.slice(0, 160)}`;
}

test('the corpus has several hundred documents', () => {
  expect(generated.length + written.length).toBeGreaterThan(500);
});

test('the library judges every document as written', () => {
  for (const one of [...generated, ...written]) {
    let pointer: string | undefined;
    try {
      checkSettings(one.text, one.shape);
    } catch (error) {
      expect(error).toMatchObject({ name: 'SettingsError', code: 'ERR_SETTINGS', stage: 'settings' });
      pointer = (error as { pointer: string }).pointer;
    }
    expect([describeCase(one), pointer === undefined]).toEqual([describeCase(one), one.valid]);
    if (!one.valid && one.pointer !== undefined) expect([describeCase(one), pointer]).toEqual([describeCase(one), one.pointer]);
  }
});

test('objects are judged as their text', () => {
  for (const one of generated) {
    const judge = (): void => checkSettings(JSON.parse(one.text) as object, one.shape);
    if (one.valid) expect(judge).not.toThrow();
    else expect(judge).toThrow();
  }
});

test('the JSON schema agrees', () => {
  const schema = JSON.parse(fs.readFileSync(path.join(root, 'schema', 'settings.schema.json'), 'utf8')) as { $id: string };
  const ajv = new Ajv2020({ strictTypes: false });
  ajv.addSchema(schema);
  const validators = {
    sandbox: ajv.getSchema(schema.$id),
    editor: ajv.getSchema(`${schema.$id}#/$defs/editorDocument`),
    permissions: ajv.getSchema(`${schema.$id}#/$defs/permissions`),
  };
  for (const one of generated) {
    expect([describeCase(one), validators[one.shape]?.(JSON.parse(one.text))]).toEqual([describeCase(one), one.valid]);
  }
});

test('the typings agree about structure', () => {
  const types = { sandbox: 'SandboxDocument', editor: 'EditorDocument', permissions: 'SandboxPermissions' };
  const complaints = complaintsOf([
    "import type {SandboxDocument, EditorDocument, SandboxPermissions} from './settings-types';",
    ...generated.map((one, index) => `export const c${index}: ${types[one.shape]} = ${one.text.replaceAll('\n', ' ')};`),
  ]);
  generated.forEach((one, index) => {
    // Patterns and ranges are beyond types.
    const expected = one.valid || one.level === 'value';
    expect([describeCase(one), !complaints.has(index + 1)]).toEqual([describeCase(one), expected]);
  });
});
