// Running other programs, and the paths that every script needs.
import {spawnSync} from 'node:child_process';
import {accessSync, constants} from 'node:fs';
import {createRequire} from 'node:module';
import {delimiter, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const require = createRequire(join(root, 'package.json'));

/** A failure whose message is meant for the user: no stack trace. */
export class Failure extends Error {}

/** Runs a command in the package folder with our stdio. Throws a Failure that names the command. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, {cwd: root, stdio: 'inherit', ...options});
  if (result.error) throw new Failure(`${command} could not be started: ${result.error.message}`);
  if (result.status !== 0) {
    const how = result.signal ? `was ended by ${result.signal}` : `ended with status ${result.status}`;
    const line = [command, ...args].join(' ');
    throw new Failure(`${line.length > 300 ? `${line.slice(0, 300)}...` : line} ${how}`);
  }
}

export const runNode = (script, args = [], options = {}) => run(process.execPath, [script, ...args], options);

/** The path of a program in PATH, or undefined. */
export function which(program) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here: try the next folder.
    }
  }
  return undefined;
}

/** Runs a script's main function; a Failure ends it with one message and status 1. */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? process.exitCode ?? 0;
  } catch (error) {
    console.error(error instanceof Failure ? error.message : error);
    process.exitCode = 1;
  }
}
