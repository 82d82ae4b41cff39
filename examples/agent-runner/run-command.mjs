// Runs one shell command that somebody else thought of, confined to a project, and says how it went.
import {closeSync, openSync} from 'node:fs';
import {createSandboxedPty} from 'sandboxed-pty';

/** What every command gets. Hosts cannot be chosen yet, so the network is all or nothing: here nothing. */
const settings = {
  enabled: true,
  profile: 'workspace',
};

/** Characters. The end of a text is where errors are, so the beginning is cut. */
const maxOutput = 100_000;

/**
 * `permissions` is what a person approved, for example {write_paths: ['/srv/cache']}. Throws a SandboxError if the command
 * cannot be confined as the settings say; nothing has run then.
 */
export async function runCommand(command, {projectDir, permissions = null, timeoutMs = 60_000}) {
  // No input: a command that asks something gets an end of file, not a wait. The session has its own copy.
  const noInput = openSync('/dev/null', 'r');
  let pty;
  try {
    pty = createSandboxedPty({
      file: 'sh',
      args: ['-c', command],
      projectDir,
      permissions,
      kind: 'tool',
      sandbox: settings,
      name: 'dumb', // no colours and cursor movements for a reader that is no terminal
      cols: 200,
      stdio: [noInput, null, null],
    });
  } finally {
    closeSync(noInput);
  }

  let output = '';
  let outputCut = false;
  pty.onData((data) => {
    output += data;
    outputCut ||= output.length > maxOutput;
    output = output.slice(-maxOutput);
  });
  const exited = new Promise((resolve) => pty.onExit(resolve));

  let timedOut = false;
  let onTimeout;
  const timeout = new Promise((resolve) => (onTimeout = resolve));
  const timer = setTimeout(() => {
    timedOut = true;
    // Politely first. Whoever is left after that is ended, whatever it did to get away.
    pty.dispose({signal: 'SIGTERM', graceMs: 500}).then(() => onTimeout({}));
  }, timeoutMs);

  const {exitCode, signal} = await Promise.race([exited, timeout]);
  clearTimeout(timer);
  // What the command left running ends with it. The report says whether that is proven.
  const ended = await pty.dispose();
  return {
    output: output.replaceAll('\r\n', '\n'),
    outputCut,
    exitCode,
    signal,
    timedOut,
    ended,
    missing: pty.sandbox.protections.filter((each) => each.missing).map((each) => each.name),
  };
}
