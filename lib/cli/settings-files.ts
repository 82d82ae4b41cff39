import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

import { Failure } from './failure';

export const projectFileName = '.sandboxed-pty.json';

/** What the settings parser takes at most. */
const maxBytes = 1024 * 1024;

export function userSettingsPath(env: NodeJS.ProcessEnv = process.env): string {
  const configured = env['XDG_CONFIG_HOME'];
  // The specification of XDG says that a relative path is to be ignored.
  const config = configured && path.isAbsolute(configured) ? configured : path.join(os.homedir(), '.config');
  return path.join(config, 'sandboxed-pty', 'settings.json');
}

function readOpened(fd: number, file: string): string {
  const status = fs.fstatSync(fd);
  if (!status.isFile()) throw new Failure(`${file} is not a file.`);
  if (status.size > maxBytes) throw new Failure(`${file} is larger than a settings file can be (1 MiB).`);
  try {
    // Not by a plain 'utf8', which would put other characters in the place of wrong bytes, and so another path.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(fd));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw new Failure(`${file} is not UTF-8. Save it as UTF-8.`);
    throw new Failure(`the settings in ${file} cannot be read: ${message}`);
  }
}

/** The text of a settings file; undefined if there is none. One that cannot be read is an error, not an absent one. */
export function readSettingsFile(file: string): string | undefined {
  let fd: number;
  try {
    // A repository may hold a FIFO of that name: opening it must not wait.
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Failure(`the settings in ${file} cannot be read: ${message}`);
  }
  try {
    return readOpened(fd, file);
  } finally {
    fs.closeSync(fd);
  }
}
