// The benchmark: every figure for every implementation, interleaved in one run.
//   node bench/run.mjs [--quick] [--only figure,...] [--impl name,...] [--rounds n] [--json] [--write] [--check]
import {parseArgs} from 'node:util';
import {writeDocument} from './lib/document.mjs';
import {select} from './lib/figures.mjs';
import {choose} from './lib/implementations.mjs';
import {judge} from './lib/judge.mjs';
import {describeMachine, isBusy, machineLine} from './lib/machine.mjs';
import {compilePrograms} from './lib/programs.mjs';
import {textTable} from './lib/report.mjs';
import {runFigure} from './lib/rounds.mjs';

const usage = `usage: npm run bench -- [options]
  --quick          short measurements, one round: for development, not for conclusions
  --only a,b       figures by id or prefix (spawn, burst, output, lag, input, echo, kill, idle, confine, dispose, list,
                   settings)
  --impl a,b       node-pty, ours, c (all C programs), c-epoll, c-keeper, c-spare, c-keeper-vfork, outside, bwrap, srt
  --rounds n       measurements of each figure and implementation (7)
  --json           print everything as JSON, every round included
  --write          put the results into docs/benchmarks.md
  --check          exit with 1 if a bar is missed`;

function options() {
  const {values} = parseArgs({
    options: {
      quick: {type: 'boolean'}, only: {type: 'string'}, impl: {type: 'string'}, rounds: {type: 'string'},
      json: {type: 'boolean'}, write: {type: 'boolean'}, check: {type: 'boolean'}, help: {type: 'boolean', short: 'h'},
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 7));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds needs a positive whole number');
  return {...values, rounds};
}

const interactive = process.stderr.isTTY;
const progress = (text) => interactive && process.stderr.write(`\r\x1b[K${text}`);
const clearProgress = () => interactive && process.stderr.write('\r\x1b[K');

async function run({quick, only, impl, rounds, json, write, check}) {
  if (process.platform !== 'linux') throw new Error('the benchmark reads /proc and runs on Linux only');
  const chosenFigures = select(only);
  compilePrograms();
  const {chosen, skipped} = choose(impl);
  const names = chosen.map(({name}) => name);
  const machine = describeMachine();
  const say = (text) => !json && console.log(text);
  say(`${machineLine(machine)}\n${rounds} round(s); median (p95 of the rounds); same-round ratios: median (quartiles)`);
  if (isBusy(machine)) say('this machine has other work to do: look at ratios only, and use more rounds');
  for (const [name, reason] of Object.entries(skipped)) say(`${name} is left out: ${reason}`);
  const figures = [];
  for (const figure of chosenFigures) {
    const {results, errors} = await runFigure(figure, chosen, rounds, quick, progress);
    clearProgress();
    const judged = {id: figure.id, title: figure.title, rows: judge(figure, results), errors, results};
    figures.push(judged);
    say(`\n${textTable(judged, names)}`);
  }
  const failed = figures.flatMap(({title, rows}) =>
    rows.filter((row) => row.pass === false).map((row) => `${title}: ${row.label}`));
  if (json) console.log(JSON.stringify({machine, rounds, quick: Boolean(quick), skipped, figures}, null, 1));
  else if (names.includes('ours')) say(failed.length ? `\nmissed: ${failed.join('; ')}` : '\nevery bar is met');
  if (write) writeDocument({machine, rounds, figures, names});
  const broken = figures.some(({errors}) => Object.keys(errors).length > 0);
  process.exitCode = broken || (check && failed.length > 0) ? 1 : 0;
}

try {
  const chosen = options();
  if (chosen.help) console.log(usage);
  else await run(chosen);
} catch (error) {
  clearProgress();
  console.error(`${error.message}\n${usage}`);
  process.exitCode = 2;
}
