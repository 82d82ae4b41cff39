// npm's prepack step: a fresh dist/, and copies of the headers that a build from the package needs.
import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {buildLib} from './lib/lib-build.mjs';
import {main, root} from './lib/process.mjs';
import {stageThirdParty} from './lib/third-party.mjs';

await main(() => {
  rmSync(join(root, 'dist'), {recursive: true, force: true});
  buildLib();
  stageThirdParty(root);
});
