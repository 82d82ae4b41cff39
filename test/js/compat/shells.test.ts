// Shells start, read their files, and know where they are.
import { needing, Place, sameEverywhere, type Where } from './support';

const everywhere: Where[] = ['outside', 'terminal', 'workspace'];

/** What is in the home directory, and the line that the shell then greets with. */
const shells: { shell: string; args: string[]; files: Record<string, string>; greeting: string }[] = [
  { shell: 'bash', args: ['-i'], files: { 'home/.bashrc': "PS1='@'; echo from-bashrc\n" }, greeting: 'from-bashrc' },
  { shell: 'bash', args: ['-l', '-i'], files: { 'home/.bash_profile': "PS1='@'; echo from-profile\n" }, greeting: 'from-profile' },
  { shell: 'bash', args: ['-l', '-i'], files: { 'home/.profile': "PS1='@'; echo from-profile\n" }, greeting: 'from-profile' },
  { shell: 'dash', args: ['-l', '-i'], files: { 'home/.profile': "PS1='@'; echo from-profile\n" }, greeting: 'from-profile' },
  { shell: 'zsh', args: ['-i'], files: { 'home/.zshenv': 'echo -n from-', 'home/.zshrc': "PS1='@'; echo zshrc\n" }, greeting: 'from-zshrc' },
];

for (const { shell, args, files, greeting } of shells) {
  needing(shell)(`${shell} ${args.join(' ')} with ${Object.keys(files).join(', ')} starts and answers`, async () => {
    for (const where of everywhere) {
      const place = new Place(files);
      const session = place.start(where, shell, args);
      await session.printed(greeting);
      session.pty.write('echo "$PWD"; cd ..; cd - > /dev/null; case $- in *i*) echo inter""active;; esac; exit 7\r');
      const exit = await session.exit();
      expect({ where, exit }).toEqual({ where, exit: { exitCode: 7, signal: 0 } });
      expect(session.output).toContain(place.project);
      expect(session.output).toContain('interactive');
      expect(session.output).not.toMatch(/denied|not permitted|cannot/i);
    }
  });
}

needing('bash')('programs are found by name, and their variables are there', async () => {
  await sameEverywhere('/usr/bin/env\nxterm C.UTF-8 <home> <project>\n', {
    script: 'command -v env; echo "$TERM $LANG $HOME $PWD"',
  });
});

needing('bash')('history can be written where the settings allow it', async () => {
  for (const where of everywhere) {
    const place = new Place({ 'home/.bashrc': "PS1='@'; HISTFILE=$PWD/history; echo ready\n" });
    const session = place.start(where, '/bin/bash', ['-i']);
    await session.printed('ready');
    session.pty.write('echo remembered\r');
    await session.printed('remembered', 2);
    session.pty.write('history -a; tail -n 2 history | head -n 1 | tr a-z A-Z; exit\r');
    await session.printed('ECHO REMEMBERED');
    await session.exit();
  }
});

needing('zsh')('zsh completes and globs', async () => {
  const files = { 'project/one.txt': '', 'project/sub/two.txt': '' };
  await sameEverywhere('one.txt sub/two.txt\n', { files, script: "zsh -f -c 'print **/*.txt'" });
});
