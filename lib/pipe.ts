/** What pipeTerminal needs of a terminal. */
interface Source {
  on(event: string, listener: (...args: any[]) => void): void;
  removeListener(event: string, listener: (...args: any[]) => void): void;
}

/** Those who cannot take more at the moment. The terminal flows while there are none, and its user has not paused it. */
export interface Holders {
  add(holder: object): void;
  delete(holder: object): void;
}

/** stream.pipe for a terminal: waits for a slow destination, and ends it with the terminal unless told otherwise. */
export function pipeTerminal<T extends NodeJS.WritableStream>(
  source: Source,
  destination: T,
  holders: Holders,
  options: { end?: boolean } = {},
): T {
  // One for each call: a destination may be piped to twice.
  const holder = {};
  let waiting = false;
  const resume = () => {
    waiting = false;
    holders.delete(holder);
  };
  const forward = (data: string | Buffer) => {
    // Ended by somebody else, and not yet done with what it has.
    if ((destination as { writableEnded?: boolean }).writableEnded === true) return stop();
    if (destination.write(data) === false && !waiting) {
      waiting = true;
      holders.add(holder);
      destination.once('drain', resume);
    }
  };
  const stop = () => {
    source.removeListener('data', forward);
    source.removeListener('end', end);
    destination.removeListener('close', stop);
    destination.removeListener('finish', stop);
    destination.removeListener('error', fail);
    destination.removeListener('drain', resume);
    resume();
  };
  /** Nobody else listens: then it is as if we had not either. */
  const fail = (error: unknown) => {
    stop();
    if (destination.listenerCount('error') === 0) destination.emit('error', error);
  };
  const end = () => {
    stop();
    const standard: unknown[] = [process.stdout, process.stderr];
    if (options.end !== false && !standard.includes(destination)) destination.end();
  };
  source.on('data', forward);
  source.on('end', end);
  destination.once('close', stop);
  destination.once('finish', stop);
  destination.once('error', fail);
  destination.emit('pipe', source);
  return destination;
}
