import * as fs from 'fs';
import * as path from 'path';

import { createSandboxedPty } from '../index';
import type { SandboxedPty } from '../index';
import { loadNative } from '../native-loader';
import { has, Invocation, valueOf } from './arguments';
import { Channels, chooseChannels, sizeOf } from './channels';
import { parseDuration } from './duration';
import { describeFailure, exitCodes, Failure, UsageError } from './failure';
import { Ending, Running } from './running';
import { currentDirectory, loadSettings, named, SessionSettings } from './session-settings';
import { printable } from './style';
import { saysRefused, summarize } from './summary';
import { packageRoot } from './version';

function say(text: string): void {
  try {
    fs.writeSync(2, `sandboxed-pty: ${text}\n`);
  } catch {
    // Nobody listens on stderr: there is no other place to say it.
  }
}

function isInside(directory: string, file: string): boolean {
  const relative = path.relative(directory, file);
  return relative !== '..' && !relative.startsWith('../');
}

function workingDirectory(invocation: Invocation, projectDir: string): string {
  const given = valueOf(invocation, 'cwd');
  if (given !== undefined) return path.resolve(given);
  const here = currentDirectory();
  return isInside(projectDir, here) ? here : projectDir;
}

function start(invocation: Invocation, session: SessionSettings, channels: Channels): SandboxedPty {
  const { settings, projectDir, kind, extraEnv, name } = session;
  const shell = invocation.command.name === 'shell';
  const [file, ...args] = shell ? [process.env['SHELL'] || 'sh'] : invocation.words;
  if (shell && invocation.words.length > 0) throw new UsageError('shell takes no program. To run one: sandboxed-pty run -- ...');
  if (file === undefined || file === '') throw new UsageError('run needs a program: sandboxed-pty run -- npm test');
  return named(name, () =>
    createSandboxedPty({
      file,
      args,
      cwd: workingDirectory(invocation, projectDir),
      projectDir,
      sandbox: settings,
      kind,
      extraEnv,
      stdio: channels.stdio,
      encoding: null,
      name: process.env['TERM'] || (channels.interactive ? 'xterm' : 'dumb'),
      ...sizeOf(channels.screen),
    }),
  );
}

/** What a person should know before anything runs, unless they asked for quiet. */
function warn(session: SessionSettings, pty: SandboxedPty): void {
  const { refused } = session.settings;
  if (refused.length > 0) {
    const file = session.files.project ?? 'the project';
    say(`${printable(file)} asks for more than a project may (${refused.length} not granted; see: sandboxed-pty settings)`);
  }
  const { confined, reason = '' } = pty.sandbox;
  const { profile } = session.settings.effective(session.kind);
  if (!confined && profile !== 'off') say(`NOT confined: ${printable(session.name(reason))}`);
  const missing = pty.sandbox.protections.filter((protection) => protection.missing);
  if (confined && missing.length > 0) {
    const told = missing.map((one) => (one.reason === undefined ? one.name : `${one.name} (${printable(session.name(one.reason))})`));
    say(`NOT enforced: ${told.join('; ')}`);
  }
  // What the program writes there would be run by the next command, unconfined.
  if (confined && profile !== 'read-only' && isInside(fs.realpathSync(session.projectDir), packageRoot)) {
    say('this package lies in the project, where the program can change it. Install it elsewhere (npm install -g sandboxed-pty)');
  }
}

/** One line of what was enforced, if it was asked for or something was refused, as far as that can be known. */
function report(invocation: Invocation, session: SessionSettings, pty: SandboxedPty, running: Running, ending: Ending): void {
  const line = (): string => session.name(summarize(pty.sandbox, pty.tracking));
  if (has(invocation, 'report')) return say(line());
  if (running.limitsHit.length > 0 && !has(invocation, 'quiet')) return say(`a limit was reached: ${running.limitsHit.join(', ')}. ${line()}`);
  const failed = ending.exitCode !== 0 || (ending.signal ?? 0) !== 0;
  if (has(invocation, 'quiet') || !failed || !pty.sandbox.confined || !saysRefused(running.lastOutput)) return;
  say(`the program seems to have been refused something. ${line()}. Ask: sandboxed-pty explain read PATH`);
}

function finish(ending: Ending): never {
  if (ending.timedOut) process.exit(exitCodes.timeout);
  if (ending.signal) {
    loadNative().endBySignal(ending.signal);
    process.exit(128 + ending.signal); // a signal that ends nobody by default
  }
  process.exit(ending.exitCode);
}

/** Does not return: ends this process as the program ended. */
export async function run(invocation: Invocation): Promise<never> {
  const given = valueOf(invocation, 'timeout');
  const timeoutMs = given === undefined ? undefined : parseDuration(given);
  const session = loadSettings(invocation);
  const channels = chooseChannels(has(invocation, 'tty'));
  const pty = start(invocation, session, channels);
  if (!has(invocation, 'quiet')) warn(session, pty);
  const running = new Running(pty, channels);
  process.on('uncaughtException', (error) => {
    running.release();
    try {
      fs.writeSync(2, describeFailure(error).text);
    } catch {
      // Nobody listens on stderr; the exit code still tells.
    }
    process.exit(exitCodes.failed);
  });
  const ending = await running.untilEnd(timeoutMs);
  const disposed = await pty.dispose();
  if (!disposed.converged) {
    throw new Failure(`processes of the session may be left: ${disposed.survivors.map(({ pid, name }) => `${name} (${pid})`).join(', ')}`);
  }
  if (ending.timedOut && !has(invocation, 'quiet')) say(`ended after ${given}`);
  report(invocation, session, pty, running, ending);
  finish(ending);
}
