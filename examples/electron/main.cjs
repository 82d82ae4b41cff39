// The main process: owns the terminals. The page only sees text. Not run: see ../README.md.
'use strict';
const {app, BrowserWindow, dialog, ipcMain} = require('electron');
const fs = require('node:fs');
const path = require('node:path');
const {createSandboxedPty} = require('sandboxed-pty');

const projectDir = fs.realpathSync(process.env.PROJECT || process.cwd());
const sandbox = {enabled: true, profile: 'workspace'};
const grace = {signal: 'SIGHUP', graceMs: 1000};

/** Characters that the page has not drawn yet: above the one the program waits, below the other it goes on. */
const high = 100_000;
const low = 5_000;

const running = new Set();

// The page shows what confined programs print. Should one of them take it over, it can say no more than this.
const isSize = (size) =>
  [size?.cols, size?.rows].every((value) => Number.isInteger(value) && value >= 1 && value <= 1000);
const isText = (data) => typeof data === 'string';
const isLength = (length) => Number.isInteger(length) && length >= 0;

function openTerminal() {
  const window = new BrowserWindow({
    width: 900,
    height: 600,
    webPreferences: {preload: path.join(__dirname, 'preload.cjs'), sandbox: true, contextIsolation: true},
  });
  const page = window.webContents;
  const tell = (channel, value) => {
    if (!page.isDestroyed()) page.send(channel, value);
  };
  // Whatever would be shown instead of our page would have its bridge to the shell.
  page.on('will-navigate', (event) => event.preventDefault());
  page.setWindowOpenHandler(() => ({action: 'deny'}));
  /** Messages of this window's page only, and only those that make sense. */
  const listen = (channel, isValid, handler) => {
    const listener = (event, value) => {
      if (event.sender === page && isValid(value)) handler(value);
    };
    ipcMain.on(channel, listener);
    window.once('closed', () => ipcMain.removeListener(channel, listener));
  };

  let pty;
  let waiting = 0;

  function start(size) {
    try {
      pty = createSandboxedPty({projectDir, ...size, name: 'xterm-256color', sandbox});
    } catch (error) {
      // Nothing was started. Never go on without the sandbox unless a person says so.
      tell('data', `${error.message.replaceAll('\n', '\r\n')}\r\n`);
      return;
    }
    running.add(pty);
    pty.onData((data) => {
      tell('data', data);
      waiting += data.length;
      if (waiting > high) pty.pause();
    });
    pty.onExit(({exitCode, signal}) => {
      running.delete(pty);
      tell('data', `\r\n[ended: ${signal ? `signal ${signal}` : `exit code ${exitCode}`}]\r\n`);
    });
  }

  listen('ready', isSize, ({cols, rows}) => {
    // A page that was reloaded says this again, and will never draw what the one before it was sent.
    waiting = 0;
    if (pty === undefined) start({cols, rows});
    pty?.resize(cols, rows);
    pty?.resume();
    if (pty) tell('sandbox', pty.sandbox);
  });
  listen('drawn', isLength, (length) => {
    waiting = Math.max(0, waiting - length);
    if (waiting < low) pty?.resume();
  });
  listen('input', isText, (data) => pty?.write(data));
  listen('resize', isSize, ({cols, rows}) => pty?.resize(cols, rows));
  window.once('closed', async () => {
    const report = await pty?.dispose(grace);
    if (report && !report.converged) console.error('processes are left:', report.survivors);
  });
  window.loadFile(path.join(__dirname, 'index.html'));
}

app.whenReady().then(() => {
  // What a session can change must not be run unconfined the next time.
  if (path.relative(projectDir, __dirname).split(path.sep)[0] !== '..') {
    dialog.showErrorBox(
      'No project',
      `This application lies in ${projectDir}. Name another folder in the variable PROJECT.`,
    );
    app.quit();
    return;
  }
  openTerminal();
});
app.on('window-all-closed', () => app.quit());

// Shells get their grace. Without this, and after a crash, the keepers end everything at once.
app.on('before-quit', (event) => {
  if (running.size === 0) return;
  event.preventDefault();
  const all = [...running];
  running.clear();
  Promise.all(all.map((pty) => pty.dispose(grace))).then(() => app.quit());
});
