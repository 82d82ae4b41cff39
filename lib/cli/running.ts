import { execFileSync } from 'child_process';
import * as fs from 'fs';
import { constants } from 'os';

import type { SandboxedPty } from '../index';
import { loadNative } from '../native-loader';
import type { ExitEvent } from '../terminal';
import { Channels, sizeOf } from './channels';
import { findKeyboard, HostTerminal } from './host-terminal';

/** How the program ended, or what ended it. */
export interface Ending extends ExitEvent {
  timedOut?: true;
}

/**
 * Those that people send to programs. SIGUSR1 also because Node.js would open its debugger for it: before Linux 6.12 a
 * session can signal us, and might then connect to that.
 */
const forwarded = ['SIGTERM', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'] as const;
/**
 * Meant for us, and the end of us by default: the session ends first, and the terminal is given back. Not here are those that
 * come from our own mistakes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS), after which no code of ours can be trusted
 * to run, SIGPROF, by which V8 profiles, and real-time signals, which Node.js does not know: then the keeper ends the session,
 * and the terminal stays raw.
 */
const fatal = ['SIGABRT', 'SIGXCPU', 'SIGXFSZ', 'SIGVTALRM', 'SIGIO', 'SIGPWR', 'SIGSTKFLT'] as const;
/** How long the program has to end by itself after a timeout, or when its terminal is gone. */
const graceMs = 5000;
/** How long a reader has to take the last output after that. */
const lastOutputMs = 500;
/** If no SIGCONT came by then, nobody stopped us: there is no shell that could continue us either. */
const stopPatienceMs = 100;
/** How much of the output is looked through for refusals. */
const kept = 4096;
const endOfInput = '\x04';

/** The signals that a process ignores, as a hexadecimal mask. Throws if it is gone. */
function ignoredSignals(pid: number): string | undefined {
  if (process.platform !== 'darwin') return /^SigIgn:\s*([0-9a-f]+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  const answer = execFileSync('/bin/ps', ['-o', 'sigignore=', '-p', String(pid)], { encoding: 'latin1', stdio: ['ignore', 'pipe', 'ignore'] });
  return /^(?:0x)?([0-9a-f]+)$/.exec(answer.trim())?.[1];
}

/** Whether a process ignores a signal; a program that does so has other plans for the key. */
function ignores(pid: number, signal: number): boolean {
  try {
    const ignored = ignoredSignals(pid);
    return ignored === undefined || ((BigInt(`0x${ignored}`) >> BigInt(signal - 1)) & 1n) === 1n;
  } catch {
    return true; // gone, or nothing is known: a key is a key
  }
}

/** A session, shown on our own terminal, or beside the pipes that the program was given. */
export class Running {
  private readonly terminal: HostTerminal | undefined;
  private stopped: number | undefined;
  private timedOut = false;
  private over = false;
  /** What took our input or output away, or is about to end us. */
  private cutOffBy: NodeJS.Signals | undefined;
  /** Set while only our own output is waited for. */
  private stopShowing: (() => void) | undefined;
  private recent = '';
  private readonly hits = new Set<string>();

  constructor(
    private readonly pty: SandboxedPty,
    private readonly channels: Channels,
  ) {
    const keyboard = channels.keys ? findKeyboard() : undefined;
    if (keyboard !== undefined) {
      this.terminal = new HostTerminal(keyboard, (keys) => this.type(keys), () => this.hangUp());
    }
  }

  /** The last of what the program wrote to its terminal. */
  get lastOutput(): string {
    return this.recent;
  }

  /** The limits that the session ran into. */
  get limitsHit(): string[] {
    return [...this.hits];
  }

  /** Gives the terminal back; for whoever has to write a message. */
  release(): void {
    this.terminal?.release();
  }

  async untilEnd(timeoutMs: number | undefined): Promise<Ending> {
    const { pty } = this;
    const ended = new Promise<ExitEvent>((resolve) => pty.onExit(resolve));
    pty.onViolation(({ limit }) => this.hits.add(limit));
    this.relayOutput();
    this.listenToSignals();
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.timeOut(), timeoutMs);
    this.terminal?.take();
    if (this.channels.typed) this.typeInput();
    const exit = await ended;
    this.over = true;
    await this.shown();
    clearTimeout(timer);
    this.release();
    // As the same would have ended the program itself. Not by exit(), in which Node.js trips over a terminal that is gone.
    if (this.cutOffBy !== undefined) return { exitCode: 0, signal: constants.signals[this.cutOffBy] };
    return { ...exit, ...(this.timedOut && { timedOut: true as const }) };
  }

  // ---- output -------------------------------------------------------------------------------------------------------

  private relayOutput(): void {
    const { pty, channels } = this;
    const { screen } = channels;
    pty.onData((chunk) => {
      const data = chunk as unknown as Buffer;
      this.recent = (this.recent + data.subarray(-kept).toString('latin1')).slice(-kept);
      if (screen.write(this.forScreen(data))) return;
      pty.pause();
      screen.once('drain', () => pty.resume());
    });
    // Whoever read our output has gone: what the kernel would have done to the program is done to us.
    screen.on('error', (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? this.cutOff('SIGPIPE', 0) : this.hangUp()));
    screen.on('resize', () => this.resize());
  }

  /** Whoever reads our output may be slower than the program was. Not longer than a signal or the time limit allows. */
  private shown(): Promise<void> {
    if (this.cutOffBy !== undefined) return Promise.resolve();
    const { screen } = this.channels;
    return new Promise((resolve) => {
      this.stopShowing = resolve;
      // The time is over already: who reads gets the rest, who does not is not waited for.
      if (this.timedOut) setTimeout(resolve, lastOutputMs);
      screen.once('error', resolve);
      screen.once('close', resolve);
      screen.write('', () => resolve());
    });
  }

  /** A terminal that is not raw makes line ends of its own: it would show two carriage returns. */
  private forScreen(data: Buffer): Buffer {
    if (!this.channels.screen.isTTY || this.terminal?.taken || !data.includes('\r\n')) return data;
    return Buffer.from(data.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  }

  private resize(): void {
    const { cols, rows } = sizeOf(this.channels.screen);
    if (!this.over) this.pty.resize(cols, rows);
  }

  // ---- input --------------------------------------------------------------------------------------------------------

  private type(keys: Buffer): void {
    const { suspend, foreground } = loadNative().readKeySignals(this.pty.fd);
    const at = suspend === -1 ? -1 : keys.indexOf(suspend);
    // The program's own group has no shell of the session above it, so the kernel would not stop it: we do. Jobs of a
    // shell inside are that shell's business.
    const ours = at !== -1 && foreground === this.pty.pid && !ignores(this.pty.pid, constants.signals.SIGTSTP);
    if (!ours) {
      this.write(keys);
      return;
    }
    this.write(keys.subarray(0, at));
    this.suspend(0, foreground);
    this.write(keys.subarray(at + 1));
  }

  private write(data: Buffer | string): void {
    if (this.over || data.length === 0) return;
    this.pty.write(data);
  }

  /** Standard input, typed; its end is the end-of-file key, twice if a line was begun. */
  private typeInput(): void {
    const input = process.stdin;
    let last = '\n';
    input.on('data', (data: Buffer) => {
      last = String.fromCharCode(data.at(-1) ?? 10);
      if ((this.pty.write(data) as unknown) !== false) return;
      input.pause();
      this.pty.once('drain', () => input.resume());
    });
    input.on('end', () => this.write(last === '\n' ? endOfInput : endOfInput + endOfInput));
    input.on('error', () => this.hangUp());
  }

  // ---- signals ------------------------------------------------------------------------------------------------------

  private listenToSignals(): void {
    for (const signal of forwarded) process.on(signal, () => (this.over ? this.cutOff(signal, 0) : this.pty.kill(signal)));
    // Not every system has all of them.
    for (const signal of fatal) if (constants.signals[signal] !== undefined) process.on(signal, () => this.cutOff(signal, graceMs));
    process.on('SIGINT', () => this.signalForeground('SIGINT'));
    process.on('SIGHUP', () => this.hangUp());
    process.on('SIGCONT', () => this.resume());
    process.on('SIGTSTP', this.onStop);
  }

  /** Ctrl-Z where our terminal is not raw: the kernel has stopped everybody but the session. */
  private readonly onStop = (): void => {
    if (this.over) return;
    const { foreground } = loadNative().readKeySignals(this.pty.fd);
    this.suspend(process.pid, foreground > 0 ? foreground : this.pty.pid);
  };

  private signalForeground(signal: NodeJS.Signals): void {
    if (this.over) return this.cutOff(signal, 0);
    const { foreground } = loadNative().readKeySignals(this.pty.fd);
    if (foreground <= 0) this.pty.kill(signal);
    else this.signalGroup(foreground, signal);
  }

  private signalGroup(group: number, signal: NodeJS.Signals): void {
    try {
      if (!this.over) process.kill(-group, signal);
    } catch (error) {
      // ESRCH: it has just ended. EPERM: it became somebody else's, as sudo does.
      if ((error as NodeJS.ErrnoException).code === 'EPERM') this.pty.kill(signal);
    }
  }

  /** Stops the program, then us (or, for 0, all of our process group), as one. */
  private suspend(whom: number, group: number): void {
    if (this.stopped !== undefined || this.over) return;
    this.stopped = group;
    this.signalGroup(group, 'SIGSTOP');
    this.release();
    process.removeListener('SIGTSTP', this.onStop);
    process.kill(whom, 'SIGTSTP');
    setTimeout(() => this.resume(), stopPatienceMs);
  }

  private resume(): void {
    const group = this.stopped;
    this.stopped = undefined;
    if (this.over) return;
    if (group !== undefined) {
      process.on('SIGTSTP', this.onStop);
      this.signalGroup(group, 'SIGCONT');
    }
    // Whoever stopped us may have changed the terminal: take it as it is now.
    this.release();
    this.terminal?.take();
    if (group !== undefined) this.redraw();
  }

  /** The screen shows somebody else's text by now. A change of size is what programs redraw for. */
  private redraw(): void {
    const { cols, rows } = sizeOf(this.channels.screen);
    if (this.terminal === undefined || rows < 2) return;
    this.pty.resize(cols, rows - 1);
    this.resize();
  }

  // ---- ends ---------------------------------------------------------------------------------------------------------

  private timeOut(): void {
    this.timedOut = true;
    this.stopShowing?.();
    void this.pty.dispose({ signal: 'SIGTERM', graceMs });
  }

  /** Our terminal is gone. Nothing of the session may stay. */
  private hangUp(): void {
    this.cutOff('SIGHUP', graceMs);
  }

  private cutOff(by: NodeJS.Signals, grace: number): void {
    if (this.cutOffBy !== undefined) return;
    this.cutOffBy = by;
    this.stopShowing?.();
    if (this.over) return;
    void this.pty.dispose({ signal: by, graceMs: grace });
  }
}
