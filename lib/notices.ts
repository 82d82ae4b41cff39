import type { Tracking } from './disposal';

/** A limit of the settings that the session ran into. The kernel has refused or ended what went beyond it. */
export interface Violation {
  limit: 'processes' | 'memory';
  /** How often, since the last event. */
  times: number;
  message: string;
}

/** Something that the caller should know, although the session runs. */
export interface Warning {
  code: 'WEAK_TRACKING' | 'KEEPER_LOST' | 'NOT_DISPOSED';
  message: string;
}

export function limitViolations(processes: number, memory: number): Violation[] {
  const found: Violation[] = [];
  if (processes > 0) {
    const message = `The session has reached its limit of processes ("limits": "processes"): ${processes} more could not be started.`;
    found.push({ limit: 'processes', times: processes, message });
  }
  if (memory > 0) {
    const message = 'The session has used up its memory ("limits": "memory_bytes"), and the kernel has ended it.';
    found.push({ limit: 'memory', times: memory, message });
  }
  return found;
}

/** destroy() has no other way to say so. */
export function notDisposed(reason: string): Warning {
  const message = `The terminal is closed, but its session could not be disposed of: ${reason}. Call dispose().`;
  return { code: 'NOT_DISPOSED', message };
}

/** Somebody ended the keeper: the session's end is reported, but nobody has seen it. */
export function keeperLost({ mechanisms }: Tracking): Warning {
  const known = mechanisms.includes('cgroup')
    ? 'Everybody in its cgroup is being ended; dispose() says when nobody is left.'
    : 'What it has started may still run, and nothing can tell: it had no cgroup.';
  return { code: 'KEEPER_LOST', message: `The keeper of this session was ended by somebody else. ${known}` };
}

/**
 * Without a cgroup or a Landlock scope, what forks faster than it can be found may get away; on macOS, what runs
 * without the mark of a session that is not confined.
 */
export function trackingWarning({ mechanisms, noCgroup, unmarked }: Tracking): Warning | undefined {
  if (mechanisms.includes('cgroup') || mechanisms.includes('landlock-scope')) return undefined;
  if (mechanisms.includes('seatbelt-mark')) {
    if (unmarked === undefined) return undefined;
    const message =
      `Of the processes of this session some cannot be marked: ${unmarked}. They are only followed from parent to child, ` +
      'and one whose parent has ended before dispose() is left alone.';
    return { code: 'WEAK_TRACKING', message };
  }
  const message =
    `The processes of this session are only followed from parent to child, as it has no cgroup (${noCgroup ?? 'unknown'}). ` +
    'dispose() says whether it could end all of them.';
  return { code: 'WEAK_TRACKING', message };
}
