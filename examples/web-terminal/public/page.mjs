// The terminal, and who is told what.
import {FitAddon} from './vendor/addon-fit.mjs';
import {Terminal} from './vendor/xterm.mjs';
import {Connection} from './connection.mjs';
import {
  showExplanation,
  showNotice,
  showProcesses,
  showReport,
  showRunning,
  showSandbox,
  showStatus,
} from './panel.mjs';
import {lastRefusal} from './refusals.mjs';

// Out of the address bar, and of what is copied from there. The page keeps it for the next session.
const token = new URLSearchParams(location.search).get('token') ?? '';
history.replaceState(null, '', '/');

const theme = {background: '#0d1117', foreground: '#d6dde6', cursor: '#58a6ff', selectionBackground: '#264f78'};

const terminal = new Terminal({
  fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
  fontSize: 14,
  theme,
  // A link in the output would be opened by the browser, outside of the sandbox: not followed.
  linkHandler: {activate: () => {}},
});
const fit = new FitAddon();
terminal.loadAddon(fit);
const place = document.getElementById('terminal');
terminal.open(place);

const encoder = new TextEncoder();
let connection;

/** Told to the server in pieces of this size. It does not wait for as little as that. */
const drawnPiece = 16 * 1024;

function showSize() {
  document.getElementById('size').textContent = `${terminal.cols} × ${terminal.rows}`;
}

/** Looks for refusals in what a person may have caused, not in floods. */
function refusalWatcher() {
  const decoder = new TextDecoder();
  let seen = '';
  return (bytes) => {
    const text = decoder.decode(bytes, {stream: true});
    seen = bytes.length > 4096 ? '' : (seen + text).slice(-4096);
    const refusal = lastRefusal(seen);
    if (refusal === undefined) return;
    seen = '';
    document.getElementById('access').value = refusal.access;
    document.getElementById('target').value = refusal.target;
  };
}

function connect() {
  const watch = refusalWatcher();
  let drawn = 0;
  let ended = false;
  const end = (text, state) => {
    if (!ended) showStatus(text, state);
    ended = true;
  };
  showReport(null);
  showNotice('');
  showExplanation({allowed: true, text: ''});
  showStatus('connecting', 'waiting');
  const own = new Connection(token, {
    open: () => own.tell('start', {cols: terminal.cols, rows: terminal.rows}),
    started: (session) => {
      showSandbox(session);
      showStatus('running', 'good');
      showRunning(true);
      terminal.focus();
    },
    output: (bytes) => {
      watch(bytes);
      terminal.write(bytes, () => {
        drawn += bytes.length;
        if (drawn < drawnPiece) return;
        own.tell('drawn', {bytes: drawn});
        drawn = 0;
      });
    },
    processes: showProcesses,
    why: showExplanation,
    notice: ({message}) => showNotice(message),
    failed: ({message}) => {
      end('not started', 'bad');
      showNotice(message);
    },
    exit: ({exitCode, signal}) => end(signal ? `ended by signal ${signal}` : `ended, exit code ${exitCode}`, 'off'),
    report: ({report}) => showReport(report),
    closed: (reason) => {
      end(reason || 'disconnected', 'bad');
      showRunning(false);
    },
  });
  connection = own;
}

terminal.onData((text) => connection.input(encoder.encode(text)));
// Mouse reports of old programs are bytes, not text.
terminal.onBinary((text) => connection.input(Uint8Array.from(text, (each) => each.charCodeAt(0))));
terminal.onResize(({cols, rows}) => {
  connection?.tell('resize', {cols, rows});
  showSize();
});
new ResizeObserver(() => fit.fit()).observe(place);

document.getElementById('dispose').addEventListener('click', () => connection.tell('dispose'));
document.getElementById('again').addEventListener('click', () => {
  terminal.reset();
  connect();
});
document.getElementById('why').addEventListener('submit', (event) => {
  event.preventDefault();
  const [access, target] = ['access', 'target'].map((id) => document.getElementById(id).value);
  connection.tell('why', {access, target});
});

fit.fit();
showSize();
connect();
