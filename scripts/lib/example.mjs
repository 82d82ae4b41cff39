// The web terminal has dependencies of its own, which nobody needs who does not run it.
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {root, run} from './process.mjs';

const webTerminal = join(root, 'examples', 'web-terminal');

const readManifest = (dir) => JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));

function isInstalled([name, version]) {
  const dir = join(webTerminal, 'node_modules', name);
  return existsSync(join(dir, 'package.json')) && (version.startsWith('file:') || readManifest(dir).version === version);
}

/** `forTests`: with what only its tests need. */
export function installWebTerminal({forTests = false} = {}) {
  const {dependencies, devDependencies} = readManifest(webTerminal);
  const wanted = {...dependencies, ...(forTests && devDependencies)};
  if (Object.entries(wanted).every(isInstalled)) return;
  console.log('Installing what the web terminal needs, into examples/web-terminal/node_modules ...');
  // No scripts: npm would run those of this package too, which the example links to, and build it once more.
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', forTests ? '--include=dev' : '--omit=dev'], {cwd: webTerminal});
}
