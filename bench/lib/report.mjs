// Tables: for the terminal, and as Markdown.
export function format(value) {
  if (value === undefined) return '-';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1000) return String(Math.round(value));
  return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
}

function barText({bar, better, against}) {
  if (!bar) return '';
  const sign = better === 'lower' ? '<=' : '>=';
  const parts = [];
  if (bar.nodePty !== undefined) parts.push(`${sign} ${bar.nodePty}`);
  if (bar.ceiling !== undefined) parts.push(`${sign} ${bar.ceiling} of ${against ?? 'C'}`);
  if (bar.value !== undefined) parts.push(`${sign} ${bar.value}`);
  return parts.join(', ');
}

const ratioText = (ratio) =>
  ratio === undefined ? '-' : `${format(ratio.median)} (${format(ratio.low)}..${format(ratio.high)})`;

const verdictText = (pass) => (pass === undefined ? '' : pass ? 'pass' : 'FAIL');

function rowCells(row, names) {
  const values = names.map((name) => {
    const value = row.values[name];
    return value ? `${format(value.median)} (${format(value.p95)})` : '-';
  });
  const label = row.unit ? `${row.label}, ${row.unit}` : row.label;
  const {nodePty, ceiling} = row.ratios;
  return [label, ...values, ratioText(nodePty), ratioText(ceiling), barText(row), verdictText(row.pass)];
}

/** The implementations that have at least one value, in the order of `names`. */
const present = (rows, names) => names.filter((name) => rows.some((row) => row.values[name]));

const head = (names, rows) => ['', ...names, '/ node-pty', `/ ${rows[0]?.against ?? 'C'}`, 'bar', ''];

export function textTable({title, rows, errors}, names) {
  const shown = present(rows, names);
  const lines = [[title, ...head(shown, rows).slice(1)], ...rows.map((row) => rowCells(row, shown))];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  const text = lines.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ').trimEnd());
  return [...text, ...Object.entries(errors).map(([name, message]) => `  ${name}: ${message}`)].join('\n');
}

export function markdownTable({title, rows, errors}, names) {
  const shown = present(rows, names);
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const header = head(shown, rows);
  return [
    `### ${title}`, '', line(header), line(header.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...rows.map((row) => line(rowCells(row, shown))),
    ...Object.keys(errors).map((name) => `\n${name} failed in at least one round.`), '',
  ].join('\n');
}

/** All bars in one list: what a reader wants to see first. */
export function markdownSummary(figures) {
  const barred = figures.flatMap(({title, rows}) => rows.filter((row) => row.bar).map((row) => ({title, row})));
  const lines = ['| figure | ours | node-pty | ratio | of C | bar | |', '|---|---:|---:|---:|---:|---:|---|'];
  for (const {title, row} of barred) {
    const value = (name) => (row.values[name] ? `${format(row.values[name].median)} ${row.unit}`.trim() : '-');
    const cells = [`${title}: ${row.label}`, value('ours'), value('node-pty'), ratioText(row.ratios.nodePty)];
    lines.push(`| ${[...cells, ratioText(row.ratios.ceiling), barText(row), verdictText(row.pass)].join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}
