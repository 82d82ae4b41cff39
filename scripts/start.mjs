// npm start: an interactive shell through the library, in the folder where the command was given. Without a terminal,
// a short demonstration instead.
import {constants} from 'node:os';
import {runDemo} from './lib/demo.mjs';
import {loadLibrary} from './lib/library.mjs';
import {main} from './lib/process.mjs';

/** Resolves to the exit status of the shell, as a shell would report it. */
function runShell({spawn}) {
  const {stdin, stdout} = process;
  const size = () => ({cols: stdout.columns || 80, rows: stdout.rows || 24});
  const shell = process.env.SHELL || 'sh';
  const pty = spawn(shell, [], {
    name: process.env.TERM || 'xterm-256color',
    ...size(),
    // npm runs scripts in the package's folder; the user may be elsewhere.
    cwd: process.env.INIT_CWD || process.cwd(),
    env: process.env,
    encoding: null, // bytes in, bytes out: the terminal decodes
  });

  return new Promise((resolve) => {
    const restore = () => stdin.setRawMode(false);
    // Whatever ends this process, short of SIGKILL, the user's terminal is usable afterwards.
    process.on('exit', restore);
    for (const signal of ['SIGHUP', 'SIGTERM', 'SIGINT', 'SIGQUIT']) {
      process.on(signal, () => {
        pty.kill();
        process.exit(128 + constants.signals[signal]);
      });
    }
    stdin.setRawMode(true);
    stdin.on('data', (data) => pty.write(data));
    stdin.on('end', () => pty.kill());
    stdout.on('resize', () => {
      const {cols, rows} = size();
      pty.resize(cols, rows);
    });
    pty.onData((data) => {
      if (stdout.write(data)) return;
      pty.pause();
      stdout.once('drain', () => pty.resume());
    });
    pty.onExit(({exitCode, signal}) => {
      restore();
      stdin.pause();
      resolve(signal ? 128 + signal : exitCode);
    });
  });
}

await main(async () => {
  const library = loadLibrary();
  if (!process.stdin.isTTY || !process.stdout.isTTY) return runDemo(library);
  return runShell(library);
});
