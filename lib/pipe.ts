/** What pipeTerminal needs of a terminal. */
interface Source {
  on(event: string, listener: (...args: any[]) => void): void;
  removeListener(event: string, listener: (...args: any[]) => void): void;
  pause(): void;
  resume(): void;
}

/** stream.pipe for a terminal: waits for a slow destination, and ends it with the terminal unless told otherwise. */
export function pipeTerminal<T extends NodeJS.WritableStream>(
  source: Source,
  destination: T,
  options: { end?: boolean } = {},
): T {
  // A terminal that somebody else paused is not ours to resume.
  let waiting = false;
  const resume = () => {
    if (waiting) source.resume();
    waiting = false;
  };
  const forward = (data: string | Buffer) => {
    if (destination.write(data) === false && !waiting) {
      waiting = true;
      source.pause();
      destination.once('drain', resume);
    }
  };
  const stop = () => {
    source.removeListener('data', forward);
    source.removeListener('end', end);
    destination.removeListener('close', stop);
    destination.removeListener('drain', resume);
    resume();
  };
  const end = () => {
    stop();
    const standard: unknown[] = [process.stdout, process.stderr];
    if (options.end !== false && !standard.includes(destination)) destination.end();
  };
  source.on('data', forward);
  source.on('end', end);
  destination.once('close', stop);
  destination.emit('pipe', source);
  return destination;
}
