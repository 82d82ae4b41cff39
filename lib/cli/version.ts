import * as fs from 'fs';
import * as path from 'path';

const root = path.join(__dirname, '..', '..');

export function packageVersion(): string {
  return (JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

export function schemaText(): string {
  return fs.readFileSync(path.join(root, 'schema', 'settings.schema.json'), 'utf8');
}
