// One socket, one session: it begins when the page has said how large it is, and ends when the socket does.
import {createSandboxedPty, explain, resolvePolicy} from 'sandboxed-pty';
import {readMessage} from './messages.mjs';
import {describeProcesses} from './processes.mjs';

/** Bytes that the page has not drawn yet: above the one the program waits, below the other it goes on. */
const high = 256 * 1024;
const low = 64 * 1024;

/** Input that the program has not read yet. More than that was not typed, and is not kept. */
const maxWaitingInput = 1024 * 1024;

/** Messages that the page has not fetched. One that asks without listening is no page. */
const maxWaitingMessages = 4 * 1024 * 1024;

const processesEveryMs = 1000;

/** What a shell gets whose page was closed: time to save its history. */
const grace = {signal: 'SIGHUP', graceMs: 1000};

/** Codes of the protocol for why a socket is closed. */
const closed = {normally: 1000, badMessage: 1008, failed: 1011};

/** For a disposal of which nobody knows how it went. */
const unproven = ({message}) => ({
  converged: false,
  rounds: 0,
  killed: 0,
  survivors: [],
  elapsedMs: 0,
  mechanisms: [],
  problem: message,
});

export class Session {
  #socket;
  #place;
  #pty;
  #undrawn = 0;
  #timer;
  #finishing = false;
  #ending;

  /** `place` is {settings, projectDir}: what resolveSettings() returned, and what the session may work on. */
  constructor(socket, place) {
    this.#socket = socket;
    this.#place = place;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.end());
    // A message that is too large, for example. 'close' follows.
    socket.on('error', (error) => console.error(`A connection failed: ${error.message}`));
  }

  /** Ends every process of the session. Resolves when that is proven, or said not to be; any number of calls is one. */
  end() {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end() {
    clearInterval(this.#timer);
    const report = await this.#pty?.dispose(grace).catch(unproven);
    if (report && !report.converged) {
      console.error(
        `Session ${this.#pty.pid}: not proven that nobody is left.`,
        report.problem ?? '',
        report.survivors,
      );
    }
  }

  #receive(data, isBinary) {
    const message = isBinary ? {type: 'input', data} : readMessage(data.toString());
    const isFirst = this.#pty === undefined;
    if (message === undefined || isFirst !== (message.type === 'start')) {
      this.#socket.close(closed.badMessage, 'not understood');
      return;
    }
    this.#handlers[message.type](message);
  }

  #handlers = {
    start: (size) => this.#start(size),
    input: ({data}) => this.#input(data),
    resize: ({cols, rows}) => this.#pty.resize(cols, rows),
    drawn: ({bytes}) => this.#drawn(bytes),
    why: (question) => this.#why(question),
    dispose: () => this.#finish(),
  };

  #tell(type, content) {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > maxWaitingMessages) this.#socket.terminate();
    else this.#socket.send(JSON.stringify({type, ...content}));
  }

  #start({cols, rows}) {
    // The socket may have been closed while its first message waited here.
    if (this.#ending) return;
    const {settings, projectDir} = this.#place;
    try {
      // encoding null: bytes in, bytes out, and xterm.js decodes.
      const options = {cols, rows, name: 'xterm-256color', encoding: null};
      this.#pty = createSandboxedPty({...options, projectDir, sandbox: settings});
    } catch (error) {
      // Nothing was started. Never go on without the sandbox unless a person says so.
      this.#tell('failed', {message: error.message});
      this.#socket.close(closed.failed, 'the session could not be started');
      return;
    }
    const pty = this.#pty;
    pty.onData((data) => this.#output(data));
    pty.onExit(({exitCode, signal}) => {
      this.#tell('exit', {exitCode, signal});
      this.#finish();
    });
    pty.onWarning(({message}) => this.#tell('notice', {message}));
    pty.onViolation(({message}) => this.#tell('notice', {message}));
    this.#tell('started', {sandbox: pty.sandbox, tracking: pty.tracking, projectDir, shell: pty.process});
    this.#tellProcesses();
    this.#timer = setInterval(() => {
      // A page in a sleeping tab gets the next list when it has fetched what it was sent before.
      if (this.#socket.bufferedAmount < low) this.#tellProcesses();
    }, processesEveryMs);
  }

  #tellProcesses() {
    this.#tell('processes', describeProcesses(this.#pty.listProcesses()));
  }

  #output(data) {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(data);
    this.#undrawn += data.length;
    if (this.#undrawn > high) this.#pty.pause();
  }

  /** The page is believed only as far as its bytes have left this process. */
  #drawn(bytes) {
    this.#undrawn = Math.max(this.#socket.bufferedAmount, this.#undrawn - bytes);
    if (this.#undrawn < low) this.#pty.resume();
  }

  #input(data) {
    if (this.#pty.writableLength + data.length > maxWaitingInput) {
      const message = `The program does not read its input: ${data.length} bytes of it were dropped.`;
      this.#tell('notice', {message});
      return;
    }
    this.#pty.write(data);
  }

  #why({access, target}) {
    const {settings, projectDir} = this.#place;
    let policy;
    try {
      policy = resolvePolicy({settings, projectDir});
      const {allowed, text} = explain(policy, access, target);
      this.#tell('why', {allowed, text});
    } catch (error) {
      // The session may have removed its own project.
      this.#tell('why', {allowed: false, text: error.message});
    } finally {
      policy?.dispose();
    }
  }

  /** The shell has ended, or the person wants that everything does: at once, and with a report. */
  async #finish() {
    if (this.#finishing) return;
    this.#finishing = true;
    const report = await this.#pty.dispose().catch(unproven);
    clearInterval(this.#timer);
    this.#tellProcesses();
    this.#tell('report', {report});
    this.#socket.close(closed.normally, 'the session has ended');
  }
}
