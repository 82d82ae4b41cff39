// In the page: draws what comes, tells how much of it is drawn, and shows what holds the session.
'use strict';
/* global Terminal, terminalHost */
const terminal = new Terminal({
  cols: 100,
  rows: 30,
  // A link in the output would be opened outside of the sandbox: not followed.
  linkHandler: {activate: () => {}},
});
terminal.open(document.getElementById('terminal'));

terminalHost.onData((data) => terminal.write(data, () => terminalHost.drawn(data.length)));
terminalHost.onSandbox(({confined, reason, protections}) => {
  const padlock = document.getElementById('padlock');
  padlock.textContent = confined ? 'confined' : `not confined: ${reason}`;
  padlock.title = protections
    .filter(({wanted}) => wanted)
    .map(({name, enforcedBy, reason: why}) => `${name}: ${enforcedBy ?? `NOT enforced (${why})`}`)
    .join('\n');
});
terminal.onData((data) => terminalHost.input(data));
terminal.onResize((size) => terminalHost.resize(size));
terminalHost.ready({cols: terminal.cols, rows: terminal.rows});
