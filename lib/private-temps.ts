import * as fs from 'fs';
import * as path from 'path';

const prefix = 'sandboxed-pty-';

// Names are short, because programs make UNIX sockets in there, whose paths have 107 bytes at most.
const base = 36;

/** When a process started; undefined if there is none, or no way to know. */
function startTime(pid: number | 'self'): string | undefined {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]).toString(base);
  } catch {
    return undefined;
  }
}

/** A few letters that stand for a text (FNV-1a). */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return (hash >>> 0).toString(base).padStart(7, '0').slice(-4);
}

/** Where a process number means what it means here: this boot of this machine, this pid namespace. */
function readPlace(): string | undefined {
  try {
    const namespace = /\d+/.exec(fs.readlinkSync('/proc/self/ns/pid'))?.[0];
    return namespace && digest(namespace + fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'));
  } catch {
    return undefined;
  }
}

let own: { tag: string; place: string | undefined } | undefined;

function ownTag(): { tag: string; place: string | undefined } {
  if (own) return own;
  const [start, place] = [startTime('self'), readPlace()];
  own =
    start && place ? { tag: `${process.pid}-${start}-${place}`, place } : { tag: `${process.pid}`, place: undefined };
  return own;
}

const swept = new Set<string>();

const atATime = 100;

/** Undefined at the end; a directory that cannot be read any further ends here. */
function nextName(names: fs.Dir): string | undefined {
  try {
    return names.readSync()?.name;
  } catch {
    return undefined;
  }
}

/**
 * A host that dies while it starts a session may leave a directory that no keeper has heard of. Only empty ones are
 * removed: whatever has something in it belongs to a session, and its keeper sees to that.
 *
 * A few names at a time, from the event loop: libuv's thread pool would be the way, but the first to ask for it where
 * no thread can be created ends the whole program (libuv aborts).
 */
function sweep(parent: string, place: string, names: fs.Dir): void {
  for (let i = 0; i < atATime; i++) {
    const name = nextName(names);
    if (name === undefined) return names.closeSync();
    const found = /^sandboxed-pty-(\d+)-(\w+)-(\w+)-/.exec(name);
    if (found?.[3] !== place || startTime(Number(found[1])) === found[2]) continue;
    try {
      fs.rmdirSync(path.join(parent, name));
    } catch {
      // Not empty, not ours, or gone already.
    }
  }
  setImmediate(sweep, parent, place, names).unref();
}

/** What the name of a private directory begins with: it says whose it is. */
export function privateTempPrefix(parent: string): string {
  const { tag, place } = ownTag();
  if (place !== undefined && !swept.has(parent)) {
    swept.add(parent);
    setImmediate(() => {
      try {
        sweep(parent, place, fs.opendirSync(parent));
      } catch {
        // A directory that cannot be listed cannot be tidied up; that is no reason to refuse a session.
      }
    }).unref();
  }
  return path.join(parent, `${prefix}${tag}-`);
}
