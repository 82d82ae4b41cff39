import type { Terminal } from './module';
import { children, openFds } from './processes';

function end(accepted: Terminal | undefined, started: number[]): void {
  // Never destroy() or kill() what open() gave: its pid is -1, and node-pty would signal every process there is.
  accepted?.master?.destroy();
  accepted?.slave?.destroy();
  for (const pid of started) process.kill(pid, 'SIGKILL');
}

/** What a throwing call threw; it must have started no process and opened nothing. */
export function refusal(call: () => Terminal): Error & { code?: string } {
  const processesBefore = children();
  const fdsBefore = openFds();
  let thrown: unknown;
  let accepted: Terminal | undefined;
  try {
    accepted = call();
  } catch (error) {
    thrown = error;
  }
  const started = children().filter((pid) => !processesBefore.includes(pid));
  const opened = openFds().filter((fd) => !fdsBefore.includes(fd));
  end(accepted, started);
  expect({ accepted: accepted !== undefined, started, opened }).toEqual({ accepted: false, started: [], opened: [] });
  expect(thrown).toMatchObject({ name: expect.any(String), message: expect.any(String) });
  return thrown as Error;
}

export function refusalOfWrite(pty: Terminal, data: unknown): unknown {
  try {
    pty.write(data);
  } catch (error) {
    return error;
  }
  return undefined;
}
