// Builds the addon and the keeper into build/Release, and lib/ into dist/.
//   node scripts/build.mjs [--gyp] [--native | --lib]
//   node scripts/build.mjs --sanitize=address,undefined     native tests only, in a folder of their own
import {parseArgs} from 'node:util';
import {buildLib} from './lib/lib-build.mjs';
import {buildNativeTests, buildWithCmakeJs, buildWithNodeGyp} from './lib/native-build.mjs';
import {main} from './lib/process.mjs';

await main(() => {
  const {values} = parseArgs({
    options: {gyp: {type: 'boolean'}, native: {type: 'boolean'}, lib: {type: 'boolean'}, sanitize: {type: 'string'}},
  });
  if (values.sanitize) {
    buildNativeTests({sanitize: values.sanitize});
    return;
  }
  if (!values.lib) (values.gyp ? buildWithNodeGyp : buildWithCmakeJs)();
  if (!values.native) buildLib();
});
