// What the session may write: the directory of the command line, or the current one.
import {mkdtempSync, realpathSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, relative, resolve, sep} from 'node:path';
import {fileURLToPath} from 'node:url';

/** This server, and the library that confines. Who can change them is not confined the next time they are started. */
const ours = [import.meta.dirname, dirname(dirname(fileURLToPath(import.meta.resolve('sandboxed-pty'))))];

const isInside = (folder, path) => relative(folder, path).split(sep)[0] !== '..';

/** {projectDir, note, cleanUp}; `note` is what the user should know. Throws if the directory cannot be used. */
export function chooseProject(given) {
  // npm runs scripts in the package's folder; the user may be elsewhere.
  const here = process.env.INIT_CWD ?? process.cwd();
  const wanted = realpathSync(resolve(here, given ?? '.'));
  if (!statSync(wanted).isDirectory()) throw new Error(`${wanted} is not a directory`);
  const holdsUs = ours.some((path) => isInside(wanted, realpathSync(path)));
  if (!holdsUs) return {projectDir: wanted, note: '', cleanUp: () => {}};
  if (given !== undefined) {
    const note = `Beware: this server lies in ${wanted}, where the session can change it. What it writes there is run, unconfined, the next time.`;
    return {projectDir: wanted, note, cleanUp: () => {}};
  }
  const projectDir = realpathSync(mkdtempSync(join(tmpdir(), 'web-terminal-')));
  const note = `This server lies in ${wanted}, where a session could change it. So the session gets an empty directory, which is removed at the end. Name another one on the command line.`;
  return {projectDir, note, cleanUp: () => rmSync(projectDir, {recursive: true, force: true, maxRetries: 5})};
}
