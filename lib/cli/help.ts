import { Command, commands, Flag, FlagGroup } from './flags';
import { Section, sections, summary } from './manual';
import type { Style } from './style';

const width = 96;
const indent = 4;

export function synopsis({ name, value, repeats }: Flag): string {
  return `--${name}${value === undefined ? '' : ` ${value}`}${repeats ? ' ...' : ''}`;
}

function wrap(text: string, left: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && left + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((each) => ' '.repeat(left) + each);
}

function pair(term: string, meaning: string, column: number): string {
  const head = `  ${term}`;
  const lines = wrap(meaning, column);
  if (head.length + 1 > column) return [head, ...lines].join('\n');
  return [head.padEnd(column) + (lines[0] ?? '').trimStart(), ...lines.slice(1)].join('\n');
}

function flagHelp({ title, flags }: FlagGroup, style: Style): string {
  return [style.bold(`${title}:`), ...flags.map((flag) => pair(synopsis(flag), flag.text, 30))].join('\n');
}

function sectionHelp({ title, entries }: Section, style: Style): string {
  const body = entries.map((entry) => (typeof entry === 'string' ? wrap(entry, 2).join('\n') : `  ${entry[0]}\n${wrap(entry[1], 2 + indent).join('\n')}`));
  return [style.bold(`${title}:`), ...body].join('\n');
}

export function commandHelp(command: Command, style: Style): string {
  const head = `${style.bold('Usage:')} sandboxed-pty ${command.usage}\n${wrap(command.text, 0).join('\n')}`;
  return `${[head, ...command.groups.map((group) => flagHelp(group, style))].join('\n\n')}\n`;
}

export function fullHelp(style: Style): string {
  const groups = [...new Set(commands.flatMap((command) => command.groups))];
  const list = commands.map(({ usage, text }) => `  sandboxed-pty ${usage}\n${wrap(text, 2 + indent).join('\n')}`);
  const blocks = [
    `sandboxed-pty ${summary}.`,
    [style.bold('Commands:'), ...list].join('\n'),
    ...groups.map((group) => flagHelp(group, style)),
    ...sections.map((section) => sectionHelp(section, style)),
  ];
  return `${blocks.join('\n\n')}\n`;
}
