/** What --help and the manual page say besides the options. */
export interface Section {
  readonly title: string;
  /** A paragraph, or a term with its meaning. */
  readonly entries: readonly (string | readonly [term: string, meaning: string])[];
}

export const summary = 'runs programs in a sandbox that the kernel enforces, and leaves none of them behind';

export const sections: readonly Section[] = [
  {
    title: 'Examples',
    entries: [
      ['sandboxed-pty run -- npm test', 'The tests may write to this directory and to temporary ones, and read no credentials.'],
      ['sandboxed-pty run --profile workspace -- make', 'No network either, and a temporary directory of its own instead of the shared ones.'],
      ['sandboxed-pty run --write ~/.cache/pip --env "PIP_*" -- pip install x', 'Grants a little more.'],
      ['sandboxed-pty explain read ~/.ssh/id_ed25519', 'Why not?'],
      ['sandboxed-pty shell --no-network', 'A shell to look around in.'],
    ],
  },
  {
    title: 'Files',
    entries: [
      ['$XDG_CONFIG_HOME/sandboxed-pty/settings.json', 'Your settings (~/.config if the variable is not set). Options come on top of them.'],
      ['.sandboxed-pty.json', "The project's, in its directory. Written by whoever wrote the repository: it can only take away, unless --trust-project is given."],
      'Both are JSON with comments, as "sandboxed-pty schema" describes it. The Node.js installation that runs this command may be executed, too.',
    ],
  },
  {
    title: 'Pipes',
    entries: [
      'Input and output that are no terminal are handed to the program as they are, so that it runs as it would without a sandbox. What is a terminal becomes a terminal of the session\'s own. Keys are passed on only if output is shown on a terminal: in "run -- x | less" they are for less, and x reads an empty input.',
      'With --tty the program always has a terminal. Then piped input is typed into it line by line, its end is typed as Ctrl-D, and output has the line ends of a terminal.',
      'Ctrl-Z stops the program together with this command, and fg continues both; a shell inside keeps its own job control.',
    ],
  },
  {
    title: 'Messages',
    entries: [
      'With --report, what was enforced is said at the end. Without it, only if a limit was reached, or if the program failed and the last of what it wrote to its terminal reads like a refusal ("Permission denied", "Operation not permitted", "Network is unreachable", EACCES, EPERM). The kernel tells nobody what it refused, so that is a guess: a program that fails with other words, in other languages or into a pipe is not noticed, and one that was refused and ended well is not either.',
    ],
  },
  {
    title: 'Exit codes',
    entries: [
      ['N', "The program's own. If a signal ended it, the same signal ends this command."],
      ['124', 'It was ended by --timeout.'],
      ['125', 'The sandbox could not be set up, or the settings are wrong.'],
      ['126, 127', 'The program cannot be executed, or there is none.'],
      ['2', 'A mistake on the command line; 125 for run and shell.'],
    ],
  },
  {
    title: 'Environment',
    entries: [['NO_COLOR', 'No colours, as when the output is no terminal.']],
  },
];
