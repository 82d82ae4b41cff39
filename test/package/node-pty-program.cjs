// A program that was written for node-pty and knows of nothing else.
'use strict';
const os = require('node:os');
const pty = require('node-pty');

const shell = os.platform() === 'win32' ? 'powershell.exe' : 'sh';
const term = pty.spawn(shell, [], {name: 'xterm-color', cols: 80, rows: 30, cwd: process.cwd(), env: process.env});
let output = '';
term.onData((data) => {
  output += data;
  if (output.includes('size 40 100')) term.write('exit 5\r');
});
term.onExit(({exitCode}) => console.log(`node-pty program: exit ${exitCode}, size seen: ${output.includes('size 40 100')}`));
term.resize(100, 40);
term.write('echo "size $(stty size)"\r');
