// Programs that use the terminal as a terminal, or make terminals of their own.
import { needing, Place, runTask, sameEverywhere, success, type Where } from './support';

const everywhere: Where[] = ['outside', 'terminal', 'workspace'];

needing('vim')('vim edits a file in ex mode', async () => {
  const files = { 'project/file': 'one\ntwo\n' };
  await sameEverywhere('three\ntwo\n', { files, script: "vim -es -u NONE -c '%s/one/three/' -c wq file; cat file" });
});

needing('vim')('vim edits a file on the screen, with a swap file', async () => {
  for (const where of everywhere) {
    const place = new Place({ 'project/file': 'one\n' });
    const session = place.start(where, 'vim', ['-u', 'NONE', '-N', 'file']);
    await session.printed('one');
    session.pty.write('Otyped\x1b:wq\r');
    expect({ where, exit: await session.exit() }).toEqual({ where, exit: { exitCode: 0, signal: 0 } });
    expect(place.read('project/file')).toBe('typed\none\n');
  }
});

needing('less')('less shows pages, searches and quits', async () => {
  for (const where of everywhere) {
    const lines = Array.from({ length: 200 }, (_, i) => `line ${i + 1}.`).join('\n');
    const session = new Place({ 'project/file': `${lines}\n` }).start(where, 'less', ['file']);
    await session.printed('line 23.');
    session.pty.write('/line 150\r');
    await session.printed('150');
    session.pty.write('q');
    expect({ where, exit: await session.exit() }).toEqual({ where, exit: { exitCode: 0, signal: 0 } });
    expect(session.output).not.toContain('line 100.');
  }
});

needing('top')('top fills the screen and quits', async () => {
  for (const where of everywhere) {
    const session = new Place().start(where, 'top', []);
    await session.printed('PID');
    session.pty.write('q');
    expect({ where, exit: await session.exit() }).toEqual({ where, exit: { exitCode: 0, signal: 0 } });
  }
});

/** The server is made by the first command and outlives it; all others find it by its socket. */
const tmux = (socket: string): string => `
  export TMUX_SOCKET=${socket}
  t() { tmux -f /dev/null -S "$TMUX_SOCKET" "$@"; }
  t new-session -d -x 60 -y 10 'echo inside-tmux; exec cat' || exit
  until t capture-pane -p | grep -q inside-tmux; do :; done
  t send-keys typed Enter; until t capture-pane -p | grep -q typed; do :; done
  t split-window -d cat; t list-panes | wc -l; t kill-server; rm -f "$TMUX_SOCKET"`;

needing('tmux')('tmux runs a server in /tmp, panes and clients', async () => {
  await sameEverywhere('2\n', { script: tmux('/tmp/pty-compat-$$') }, ['terminal']);
});

needing('tmux')('tmux runs with its socket in the project', async () => {
  await sameEverywhere('2\n', { script: tmux('$PWD/socket') }, ['terminal']);
});

needing('script')('script records a terminal of its own', async () => {
  await sameEverywhere('in a terminal\nrecorded\n', {
    script: `script -qec 'test -t 0 && echo in a terminal' log && grep -q 'in a terminal' log && echo recorded`,
  }, ['terminal']);
});

needing('tmux', 'script', 'python3')('a profile with private terminals has none for tmux, script and pty.spawn', async () => {
  const answers: [string, string][] = [
    [tmux('$PWD/socket'), 'create window failed: fork failed: Permission denied\n'],
    ['script -qec true log', 'script: failed to create pseudo-terminal: Permission denied\n'],
    [`python3 -c 'import pty; pty.spawn("true")' 2>&1 | tail -n 1; exit 1`, 'OSError: out of pty devices\n'],
  ];
  for (const [script, output] of answers) {
    expect(await runTask('workspace', { script })).toEqual({ exit: { exitCode: 1, signal: 0 }, output });
  }
  // The way out, at the price that the docs name.
  const script = `script -qec 'test -t 0 && echo in a terminal' log`;
  expect(await runTask('workspace', { script, sandbox: { nested_pty: 'shared' } })).toEqual(success('in a terminal\n'));
});
