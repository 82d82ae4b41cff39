// npm run example:web [-- <directory>]: a confined shell in a web page. Installs what the example needs when it is run first.
import {installWebTerminal} from './lib/example.mjs';
import {loadLibrary} from './lib/library.mjs';
import {main} from './lib/process.mjs';

await main(async () => {
  loadLibrary(); // says what to do if it is not built
  installWebTerminal();
  await import('../examples/web-terminal/server.mjs');
});
