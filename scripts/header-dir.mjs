// Prints the include folder of the named npm package, for both build systems.
import {headerDir} from './lib/third-party.mjs';
import {main} from './lib/process.mjs';

await main(() => console.log(headerDir(process.argv[2])));
