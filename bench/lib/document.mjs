// Replaces the generated part of docs/benchmarks.md and leaves the written part alone.
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {isBusy, machineLine} from './machine.mjs';
import {root} from './programs.mjs';
import {markdownSummary, markdownTable} from './report.mjs';

const path = join(root, 'docs', 'benchmarks.md');
const begin = '<!-- results: written by `npm run bench -- --write` -->';
const end = '<!-- end of results -->';

export function writeDocument({machine, rounds, figures, names}) {
  const text = readFileSync(path, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error('docs/benchmarks.md has lost the marks around its results');
  const others = isBusy(machine)
    ? ` Other programs were running (load ${machine.load}): values are high, compare ratios.` : '';
  const results = [
    begin, '', `Machine: ${machineLine(machine)}; ${rounds} rounds.${others}`, '', '## Against the bars', '',
    markdownSummary(figures), '## All figures', '', ...figures.map((figure) => markdownTable(figure, names)),
  ].join('\n');
  writeFileSync(path, `${text.slice(0, from)}${results}${text.slice(to)}`);
}
