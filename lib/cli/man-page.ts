import { commands } from './flags';
import { synopsis } from './help';
import { Section, sections, summary } from './manual';

function escape(text: string): string {
  return text.replace(/\\/g, '\\e').replace(/-/g, '\\-').replace(/^([.'])/gm, '\\&$1');
}

function tagged(term: string, meaning: string): string {
  return `.TP\n.B ${escape(term).replace(/"/g, '\\(dq')}\n${escape(meaning)}`;
}

function sectionPage({ title, entries }: Section): string {
  const body = entries.map((entry) => (typeof entry === 'string' ? `.PP\n${escape(entry)}` : tagged(entry[0], entry[1])));
  return `.SH ${title.toUpperCase()}\n${body.join('\n')}`;
}

/** The manual page, from the same tables as --help. */
export function manPage(version: string): string {
  const groups = [...new Set(commands.flatMap((command) => command.groups))];
  return `${[
    `.TH SANDBOXED\\-PTY 1 "" "sandboxed\\-pty ${version}"`,
    `.SH NAME\nsandboxed\\-pty \\- ${escape(summary)}`,
    `.SH SYNOPSIS\n${commands.map(({ usage }) => `.B sandboxed\\-pty\n${escape(usage)}`).join('\n.br\n')}`,
    `.SH COMMANDS\n${commands.map(({ name, text }) => tagged(name, text)).join('\n')}`,
    ...groups.map(({ title, flags }) => `.SH ${title.toUpperCase()}\n${flags.map((flag) => tagged(synopsis(flag), flag.text)).join('\n')}`),
    ...sections.map(sectionPage),
  ].join('\n')}\n`;
}
