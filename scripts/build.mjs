// Builds the addon and the keeper into build/Release, and lib/ into dist/.
//   node scripts/build.mjs [--gyp] [--native | --lib [--clean]]
//   node scripts/build.mjs --sanitize=address,undefined     native tests only, in a folder of their own
import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {buildLib} from './lib/lib-build.mjs';
import {buildNativeTests, buildWithCmakeJs, buildWithNodeGyp} from './lib/native-build.mjs';
import {main, root} from './lib/process.mjs';

await main(() => {
  const {values} = parseArgs({
    options: {gyp: {type: 'boolean'}, native: {type: 'boolean'}, lib: {type: 'boolean'}, clean: {type: 'boolean'},
      sanitize: {type: 'string'}},
  });
  if (values.sanitize) {
    buildNativeTests({sanitize: values.sanitize});
    return;
  }
  if (!values.lib) (values.gyp ? buildWithNodeGyp : buildWithCmakeJs)();
  if (values.clean) rmSync(join(root, 'dist'), {recursive: true, force: true});
  if (!values.native) buildLib();
});
