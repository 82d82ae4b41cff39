// Everything that the macOS binaries in prebuilds/ leave undefined must be in libSystem, or, for the addon, in Node-API:
// its linker is told to leave open what it does not find, and would not notice a slip.
//   node scripts/check-macos-symbols.mjs [--warnings] [--target darwin-arm64]... [--tests darwin-arm64]...
// --warnings looks at what prebuild.mjs --warnings has built instead, --tests at that target's native test program too, which
// prebuild.mjs --tests has built.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {addonName, keeperName} from './lib/binary-check.mjs';
import {exportedSymbols, undefinedSymbols} from './lib/macho-symbols.mjs';
import {Failure, main} from './lib/process.mjs';
import {prebuildPlace, targets} from './lib/targets.mjs';
import {ensureZig} from './lib/zig.mjs';

const napiVersion = 8;
// The linker itself provides them.
const linkerSymbols = new Set(['dyld_stub_binder', '___dso_handle', '__mh_execute_header', '__mh_dylib_header']);

/** The functions that Node.js promises to have for our version of Node-API. */
function nodeApiSymbols() {
  const {symbols} = createRequire(import.meta.url)('node-api-headers');
  const {js_native_api_symbols: engine, node_api_symbols: node} = symbols[`v${napiVersion}`];
  if (engine.length + node.length < 100) throw new Failure('node-api-headers lists next to no functions');
  return new Set([...engine, ...node].map((name) => `_${name}`));
}

await main(() => {
  const {values} = parseArgs({options: {warnings: {type: 'boolean'}, target: {type: 'string', multiple: true}, tests: {type: 'string', multiple: true, default: []}}});
  const chosen = targets.filter(({name, system}) => system === 'Darwin' && (values.target?.includes(name) ?? true));
  if (chosen.length === 0) throw new Failure('No such macOS target.');
  const stubs = readFileSync(join(ensureZig().env.ZIG_LIB_DIR, 'libc', 'darwin', 'libSystem.tbd'), 'utf8');
  const nodeApi = nodeApiSymbols();
  const {work, destination} = prebuildPlace(values.warnings);
  let missing = 0;
  for (const {name, machine} of chosen) {
    const system = exportedSymbols(stubs, machine === 'aarch64' ? 'arm64' : machine);
    // A parser that understands nothing would find every symbol missing, or none.
    for (const known of ['_sandbox_init', '_sandbox_check', '_kevent64', '_malloc']) {
      if (!system.has(known)) throw new Failure(`The stub of libSystem does not seem to export ${known}`);
    }
    const files = [addonName, keeperName].map((file) => [file, join(destination, name, file)]);
    if (values.tests.includes(name)) files.push(['spty_tests', join(work, name, 'cmake', 'spty_tests')]);
    for (const [file, path] of files) {
      const wanted = undefinedSymbols(readFileSync(path));
      if (wanted.length === 0) throw new Failure(`${name}/${file} seems to need nothing at all`);
      const absent = wanted.filter((symbol) =>
        !system.has(symbol) && !linkerSymbols.has(symbol) && !(file === addonName && nodeApi.has(symbol)));
      for (const symbol of absent) console.error(`${name}/${file}: nobody has ${symbol}`);
      missing += absent.length;
      console.log(`${name}/${file}: ${wanted.length} symbols from outside, ${wanted.length - absent.length} of them known`);
    }
  }
  return missing > 0 ? 1 : 0;
});
