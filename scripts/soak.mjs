// The long runs: everything that a session promises about its end, many times over. Fails if a single bar is missed.
//   node scripts/soak.mjs [options]
//     --exits 10000         sessions that end by themselves            --parallel 8     how many of these at a time
//     --disposals 20000     sessions of every kind, ended by dispose()
//     --completeness 1000   short outputs, each of which must be whole
//     --host-deaths 300     hosts with 1 to 20 sessions that are killed --seed 1        when
//     --within-ms 500       by when nothing of them may be left
//     --short               a few of each, and more time: for every change
//     --module <name>       another module than ours, with as much of this as it has
// 0 leaves a part out.
import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {loadLibrary} from './lib/library.mjs';
import {Failure, main} from './lib/process.mjs';
import {progressBar} from './lib/progress.mjs';
import {disposeCycle, exitCycle, soakCompleteness, soakCycles} from './soak-cycles.mjs';
import {soakHostDeath} from './soak-host-death.mjs';

const full = {exits: 10_000, disposals: 20_000, completeness: 1000, 'host-deaths': 300, parallel: 8, 'within-ms': 500, seed: 1};
const short = {...full, exits: 300, disposals: 300, completeness: 100, 'host-deaths': 10, 'within-ms': 10_000};

function readOptions() {
  const numbers = Object.fromEntries(Object.keys(full).map((name) => [name, {type: 'string'}]));
  const {values} = parseArgs({options: {...numbers, short: {type: 'boolean'}, module: {type: 'string'}}});
  const chosen = {module: values.module, ...(values.short ? short : full)};
  for (const name of Object.keys(full)) {
    if (values[name] === undefined) continue;
    chosen[name] = Number(values[name]);
    if (!Number.isInteger(chosen[name]) || chosen[name] < 0) throw new Failure(`--${name} takes a whole number`);
  }
  if (chosen.parallel === 0) throw new Failure('--parallel takes a whole number above 0');
  return chosen;
}

/** Each part that is asked for: its name, and what gives its rows of the table. */
function parts({module, parallel, seed, 'within-ms': withinMs, ...counts}) {
  const library = loadLibrary(module);
  const ours = library.createSandboxedPty !== undefined;
  const all = [
    ['exits', (count, tick) => soakCycles(() => exitCycle(library), count, parallel, tick)],
    ['disposals', (count, tick) => soakCycles((index) => disposeCycle(library, index), count, parallel, tick), ours],
    ['completeness', (count, tick) => soakCompleteness(library, count, parallel, tick)],
    ['host-deaths', (count, tick) => soakHostDeath(count, {seed, withinMs}, tick), ours],
  ];
  return all.filter(([name, , possible = true]) => possible && counts[name] > 0).map(([name, run]) => ({name, run, count: counts[name]}));
}

function print(rows) {
  const cells = [['', '', 'bar', 'found', ''], ...rows.map(({part, name, bar, found, met}) => [part, name, bar, found, met ? 'ok' : 'MISSED'])];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  for (const row of cells) console.log(row.map((cell, i) => (i === 2 || i === 3 ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  ').trimEnd());
}

async function soak(options) {
  const rows = [];
  for (const {name, run, count} of parts(options)) {
    for (const row of await run(count, progressBar(name, count))) rows.push({part: `${count} ${name}`, ...row});
  }
  print(rows);
  const missed = rows.filter(({met}) => !met);
  if (missed.length > 0) throw new Failure(`Missed: ${missed.map(({part, name}) => `${part}, ${name}`).join('; ')}`);
  console.log(`All ${rows.filter(({bar}) => bar !== '').length} bars are met: nothing was left behind, nothing was lost.`);
}

await main(async () => {
  if (process.platform !== 'linux') throw new Failure('The soak test reads /proc and runs on Linux only');
  const options = readOptions();
  if (globalThis.gc) return soak(options);
  // Memory can only be compared after a collection, which needs a flag; the mark makes strays recognisable.
  const child = spawn(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    {stdio: 'inherit', env: {...process.env, SPTY_SOAK: String(process.pid)}});
  return new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ? 1 : code)));
});
