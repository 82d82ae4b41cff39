// What the figures share when they drive a terminal: starting, waiting for a mark, ending.

/** Ends a session and waits for its exit event. */
export function end(terminal) {
  return new Promise((resolve) => {
    terminal.onExit(resolve);
    terminal.kill('SIGKILL');
  });
}

/** Resolves when the output contains `mark`. Later output goes to nobody. */
export function seen(terminal, mark) {
  return new Promise((resolve, reject) => {
    let text = '';
    const data = terminal.onData((chunk) => {
      text += chunk;
      if (!text.includes(mark)) return;
      data.dispose();
      exit.dispose();
      resolve(text);
    });
    const exit = terminal.onExit(() => reject(new Error(`the session ended before it said ${mark}: ${text}`)));
  });
}

export const exited = (terminal) => new Promise((resolve) => terminal.onExit(resolve));

const held = [];

/** Makes the process as large as a busy editor: `mib` MiB of touched memory. */
export function touchHeap(mib) {
  for (let i = 0; i < mib; i += 64) held.push(Buffer.alloc(Math.min(64, mib - i) << 20, 1));
}
