// npm's prepare step: compile lib/ to dist/. Without TypeScript (npm install --omit=dev) an existing dist/ is kept.
import {buildLib, hasBuiltLib} from './lib/lib-build.mjs';
import {main, require} from './lib/process.mjs';

await main(() => {
  try {
    require.resolve('typescript/bin/tsc');
  } catch {
    if (hasBuiltLib()) return;
  }
  buildLib();
});
