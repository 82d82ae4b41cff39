import * as fs from 'fs';
import * as path from 'path';

/** Where this package is. */
export const packageRoot = path.join(__dirname, '..', '..');

export function packageVersion(): string {
  return (JSON.parse(fs.readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;
}

export function schemaText(): string {
  return fs.readFileSync(path.join(packageRoot, 'schema', 'settings.schema.json'), 'utf8');
}
