import { AsyncResource } from 'async_hooks';
import * as os from 'os';
import { getSystemErrorName } from 'util';

import {
  DisposeOptions,
  DisposeReport,
  disposeSession,
  listSessionProcesses,
  ProcessInfo,
  Tracking,
  whatIsLeft,
} from './disposal';
import { Enforcement, readEnforcement } from './enforcement';
import { isNativeFailure, SandboxError, toSandboxError } from './errors';
import { Event, EventSource } from './event';
import { InputFeeder } from './input-feeder';
import { LegacyEvents } from './legacy-events';
import { NativeSession } from './native-loader';
import { keeperLost, limitViolations, notDisposed, trackingWarning, Violation, Warning } from './notices';
import { checkCells, checkPixels, ResolvedOptions, resolveEncoding } from './options';
import { isUtf8, OutputDecoder } from './output-decoder';
import { OutputFlow } from './output-flow';
import { pipeTerminal } from './pipe';
import type { Sandbox } from './sandbox';
import { SocketFace } from './socket-face';
import { startSession } from './start-session';

// Those of now: a program's tests may replace the global ones.
const { setImmediate, setTimeout } = globalThis;

/** What a shell gets to write its history after its terminal is gone. */
const hangUpGraceMs = 1000;

/** For so long a list of processes makes the next one cheaper, for some descriptors. */
const keepListedMs = 10_000;

export interface ExitEvent {
  exitCode: number;
  signal?: number;
}

/** A running terminal with node-pty's interface. */
export class Terminal extends LegacyEvents {
  private readonly session: NativeSession;
  private readonly dataSource = new EventSource<string>();
  private readonly exitSource = new EventSource<ExitEvent>();
  private readonly violationSource = new EventSource<Violation>();
  private readonly warningSource = new EventSource<Warning>();
  private readonly input: InputFeeder;
  /** Strings are encoded natively, and lazily, as UTF-8; setEncoding() is about output and changes nothing here. */
  private readonly writesUtf8: boolean;
  private decoder: OutputDecoder;
  private size: { cols: number; rows: number };
  private readonly flow: OutputFlow;
  private holdsLoop = true;
  private needsDrain = false;
  private exited = false;
  private readonly hasSettings: boolean;
  private trackedBy: string | undefined;
  private readonly context = new AsyncResource('SandboxedPty');
  private disposal: Promise<DisposeReport> | undefined;
  private afterExit: (() => void) | undefined;
  private knownPid: number | undefined;
  private forgetting: NodeJS.Timeout | undefined;

  readonly onData: Event<string> = this.dataSource.event;
  readonly onExit: Event<ExitEvent> = this.exitSource.event;
  /** The session ran into one of its limits. */
  readonly onViolation: Event<Violation> = this.violationSource.event;
  /** If the session is tracked less well than it could be, if its keeper is lost, and if destroy() could not end it. */
  readonly onWarning: Event<Warning> = this.warningSource.event;
  readonly ptsName: string;
  handleFlowControl: boolean;
  /** Only set by open(). */
  readonly master: undefined;
  readonly slave: undefined;
  /** The part of a tty.ReadStream that clients of node-pty reach for. */
  readonly _socket: SocketFace = new SocketFace(this);

  constructor(
    private readonly options: ResolvedOptions,
    waitForExec: boolean,
    sandbox?: Sandbox,
  ) {
    super();
    this.decoder = new OutputDecoder(options.encoding);
    this.writesUtf8 = options.encoding === null || isUtf8(options.encoding);
    this.size = { cols: options.cols, rows: options.rows };
    this.handleFlowControl = options.handleFlowControl;
    this.forwardEvents();
    this.session = startSession(
      options,
      waitForExec,
      {
        onData: this.inContext((chunk: string | Buffer) => this.receive(chunk)),
        onDrain: this.inContext(() => this.inputDrained()),
        onExit: this.inContext((code: number, signal: number, lost: boolean) => {
          if (lost) this.warn(keeperLost(this.tracking));
          this.finish(code, signal);
        }),
        onMore: () => this.deliverLater(),
        onLimit: this.inContext((processes: number, memory: number) =>
          this.violated(limitViolations(processes, memory)),
        ),
        onTracking: this.inContext(() => this.warnOfWeakTracking()),
        text: this.decoder.acceptsText,
      },
      sandbox,
    );
    this.hasSettings = sandbox !== undefined;
    this.input = new InputFeeder(this.session);
    this.flow = new OutputFlow(this.session);
    this.ptsName = this.session.slaveName;
    // Listeners that come in this tick, or in an immediate of it, miss nothing: not even the exit.
    setImmediate(() => setImmediate(() => this.openGate()));
  }

  /**
   * The shell's. spawn() returns before it is known; whoever asks earlier waits for it. Throws a SandboxError if the start
   * failed, which is also told by a line of output and exit code 1.
   */
  get pid(): number {
    try {
      return (this.knownPid ??= this.session.pid);
    } catch (error) {
      throw isNativeFailure(error) ? toSandboxError(error) : error;
    }
  }

  /** For each protection, what enforces it or why nothing does. */
  get sandbox(): Enforcement {
    return readEnforcement(this.hasSettings ? this.session.enforcement : '');
  }

  // ---- output -----------------------------------------------------------------------------------------------------

  private openGate(): void {
    if (this.session.trackingKnown) this.warnOfWeakTracking();
    this.flow.begin();
  }

  private warnOfWeakTracking(): void {
    const warning = trackingWarning(this.tracking);
    if (warning) this.warn(warning);
  }

  /** In another turn of the event loop, which a session that does not hold the loop must not bring about. */
  private deliverLater(): void {
    const deliver = (): void => this.session.deliver();
    // Not an immediate without a hold: that one also waits until something else wakes the loop.
    if (this.holdsLoop) setImmediate(deliver);
    else setTimeout(deliver, 0).unref();
  }

  private warn(warning: Warning): void {
    this.warningSource.fire(warning);
    this.tell('warning', warning);
  }

  private violated(violations: Violation[]): void {
    for (const violation of violations) {
      this.violationSource.fire(violation);
      this.tell('violation', violation);
    }
  }

  private receive(chunk: string | Buffer): void {
    const data = this.decoder.decode(chunk);
    if (data.length > 0) this.emitData(data);
  }

  private emitData(data: string | Buffer): void {
    this.tell('data', data);
  }

  /** As in node-pty the newer events hang on the older ones: who emits 'data', or removes its listeners, means both. */
  private forwardEvents(): void {
    this.on('data', (data: string) => this.dataSource.fire(data));
    this.on('exit', (exitCode: number, signal: number) => this.exitSource.fire({ exitCode, signal }));
  }

  /** Events belong to whoever started the session (AsyncLocalStorage), not to whoever started the first one. */
  private inContext<A extends unknown[]>(handler: (...args: A) => void): (...args: A) => void {
    return (...args) => this.context.runInAsyncScope(handler, undefined, ...args);
  }

  pause(): void {
    this.flow.pause();
  }

  /** Output goes on, unless a destination of pipe() is full. */
  resume(): void {
    this.flow.resume();
  }

  setEncoding(encoding: string | null): void {
    if (!encoding) return; // as in node-pty: what was asked for at the start stays
    this.decoder = new OutputDecoder(resolveEncoding(encoding));
  }

  pipe<T extends NodeJS.WritableStream>(destination: T, options?: { end?: boolean }): T {
    return pipeTerminal(this, destination, this.flow, options);
  }

  // ---- input ------------------------------------------------------------------------------------------------------

  /** Bytes that wait to be read by the child. */
  get writableLength(): number {
    return this.input.length;
  }

  /** Above this many queued bytes write() answers false, and 'drain' is emitted when they are gone. */
  get writableHighWaterMark(): number {
    return InputFeeder.highWaterMark;
  }

  get writableNeedDrain(): boolean {
    return this.needsDrain;
  }

  /** Never blocks. Answers false when the child reads more slowly than the caller writes, else undefined. */
  write(data: string | Uint8Array | ArrayLike<number>): void {
    if (this.handleFlowControl) {
      if (data === this.options.flowControlPause) return this.pause();
      if (data === this.options.flowControlResume) return this.resume();
    }
    const bytes = typeof data === 'string' && this.writesUtf8 ? data : this.toInput(data);
    if (this.exited || bytes.length === 0) return;
    this.input.write(bytes);
    if (this.input.length <= InputFeeder.highWaterMark) return;
    this.needsDrain = true;
    // As a writable stream answers, so that `source.pipe(terminal)` waits for 'drain'.
    return false as unknown as void;
  }

  private toInput(data: string | Uint8Array | ArrayLike<number>): string | Uint8Array {
    if (typeof data !== 'string') return Buffer.isBuffer(data) ? data : Buffer.from(data as Uint8Array);
    return Buffer.from(data, this.options.encoding!);
  }

  private inputDrained(): void {
    this.input.drained();
    if (!this.needsDrain || this.input.length > 0) return;
    this.needsDrain = false;
    this.tell('drain');
  }

  end(data?: string | Uint8Array): void {
    if (data !== undefined) this.write(data);
  }

  // ---- the terminal -----------------------------------------------------------------------------------------------

  get cols(): number {
    return this.size.cols;
  }

  get rows(): number {
    return this.size.rows;
  }

  resize(cols: number, rows: number, pixelSize?: { width: number; height: number }): void {
    if (cols <= 0 || rows <= 0 || [cols, rows].some((n) => n === undefined || Number.isNaN(n) || n === Infinity)) {
      throw new Error('resizing must be done using positive cols and rows');
    }
    if (typeof cols !== 'number' || typeof rows !== 'number') {
      throw new Error('Usage: pty.resize(fd, cols, rows, xPixel, yPixel)');
    }
    checkCells('cols', cols);
    checkCells('rows', rows);
    const { width = 0, height = 0 } = pixelSize ?? {};
    checkPixels('width', width);
    checkPixels('height', height);
    const errno = this.session.resize(Math.trunc(cols), Math.trunc(rows), Math.trunc(width), Math.trunc(height));
    // A terminal that has just ended has no size; that is no reason to throw at an editor that is still laying out.
    if (errno !== 0 && errno !== os.constants.errno.EBADF) {
      throw new Error(`ioctl(2) failed, ${getSystemErrorName(-errno)}`);
    }
    this.size = { cols, rows };
  }

  /** Nothing to do on Unix. */
  clear(): void {}

  /** What runs in the foreground: argv[0] as the system shows it, or the program that was started. */
  get process(): string {
    return this.session.foregroundProgram() || this.options.file;
  }

  /** The master's descriptor; -1 after the end. */
  get fd(): number {
    return this.session.fd;
  }

  get _fd(): number {
    return this.fd;
  }

  get _pty(): string {
    return this.ptsName;
  }

  // ---- life -------------------------------------------------------------------------------------------------------

  /** Sends a signal to the shell itself. A signal that does not exist, or a shell that has ended, is ignored. */
  kill(signal?: string | number): void {
    const wanted = signal || 'SIGHUP';
    const number = typeof wanted === 'number' ? wanted : os.constants.signals[wanted as NodeJS.Signals];
    if (Number.isInteger(number) && !this.exited) this.session.kill(number);
  }

  /**
   * Closes the terminal, which hangs up the shell, and disposes of the session: what has not ended a moment later is
   * ended. The exit is still reported.
   */
  destroy(): void {
    // What it left running, if it was to stay.
    if (this.exited && !this.options.keepAliveAfterExit) return;
    this.input.clear();
    this.session.hangUp();
    this.dispose({ signal: 'SIGHUP', graceMs: hangUpGraceMs }).then(
      (report) => report.converged || this.warn(notDisposed(whatIsLeft(report))),
      (error: Error) => this.warn(notDisposed(error.message)),
    );
  }

  /**
   * Ends every process of the session, whatever it did, and resolves when that is proven (or the deadline is over; the
   * report says which). What was read before is delivered first, then the exit. The first call decides; later ones get
   * the same promise.
   */
  dispose(options?: DisposeOptions): Promise<DisposeReport> {
    if (this.disposal) return this.disposal;
    try {
      return (this.disposal = this.untilDisposed(disposeSession(this.session, options)));
    } catch (error) {
      // Options that make no sense have ended nothing: the next call counts.
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Throws if it is not proven that nobody is left: whoever writes `await using` sees no report. */
  async [Symbol.asyncDispose](): Promise<void> {
    const report = await this.dispose();
    if (report.converged) return;
    const details = { code: 'ETIMEDOUT', stage: 'dispose', errno: -os.constants.errno.ETIMEDOUT };
    throw new SandboxError(`the session could not be ended: ${whatIsLeft(report)}`, details);
  }

  private async untilDisposed(disposed: Promise<DisposeReport>): Promise<DisposeReport> {
    // Whoever waits for the end is waiting for what was read before, too, also if the session itself holds no loop.
    const held = this.holdsLoop;
    if (!this.exited) this.ref();
    try {
      const report = await disposed;
      this.input.clear();
      // Without a proof the shell may be one of those that did not die: its exit may never come.
      if (!this.exited && report.converged) await new Promise<void>((resolve) => (this.afterExit = resolve));
      return report;
    } catch (error) {
      this.disposal = undefined;
      throw error;
    } finally {
      if (!held && !this.exited) this.unref();
    }
  }

  /** What will end the session when it is disposed of. Like `pid`, whoever asks before it is known waits for it. */
  get tracking(): Tracking {
    return JSON.parse((this.trackedBy ??= this.session.tracking)) as Tracking;
  }

  /** Everybody who belongs to the session now. */
  listProcesses(): ProcessInfo[] {
    const { session } = this;
    this.forgetting ??= setTimeout(() => session.forgetProcesses(), keepListedMs).unref();
    this.forgetting.refresh();
    return listSessionProcesses(session);
  }

  /** Lets the event loop end although the session runs. */
  unref(): this {
    this.holdsLoop = false;
    this.session.unref();
    return this;
  }

  ref(): this {
    this.holdsLoop = true;
    this.session.ref();
    return this;
  }

  private finish(exitCode: number, signal: number): void {
    this.exited = true;
    this.input.clear();
    const tail = this.decoder.end();
    if (tail.length > 0) this.emitData(tail);
    this.tell('end');
    this.tell('close');
    this.tell('exit', exitCode, signal);
    this.afterExit?.();
  }
}
