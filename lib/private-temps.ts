import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import { getSystemErrorName } from 'util';

import { loadNative } from './native-loader';

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

/** Four letters that stand for a text (FNV-1a). */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return (hash >>> 0).toString(base).padStart(7, '0').slice(-4);
}

/** Whether nobody has this number and start time any more. What cannot be read, for want of a descriptor perhaps, is not gone. */
function isGone(pid: number, start: string): boolean {
  const now = startTime(pid);
  if (now !== undefined) return now !== start;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Where a process number and a start time mean what they mean here: these namespaces, this boot of this machine. */
interface Place {
  namespace: string;
  boot: string;
}

/** Start times are told by the clock of the reader's time namespace. Kernels before 5.6 have none. */
function timeNamespace(): string {
  try {
    return fs.readlinkSync('/proc/self/ns/time');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function readPlace(): Place | undefined {
  try {
    const namespace = fs.readlinkSync('/proc/self/ns/pid') + timeNamespace();
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1');
    return { namespace: digest(namespace), boot: digest(boot) };
  } catch {
    return undefined;
  }
}

let own: { tag: string; place: Place | undefined } | undefined;

function ownTag(): { tag: string; place: Place | undefined } {
  if (own) return own;
  const [start, place] = [startTime('self'), readPlace()];
  // A shortage of the moment is not to be remembered.
  if (!start || !place) return { tag: `${process.pid}`, place: undefined };
  own = { tag: `${process.pid}-${start}-${place.namespace}${place.boot}`, place };
  return own;
}

/** File systems that one machine alone has: what another boot has left there, nobody uses any more. */
const localFileSystems = new Set([
  0x01021994, // tmpfs
  0xef53, // ext2 to ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x794c7630, // overlayfs
]);

function isLocal(directory: string): boolean {
  return localFileSystems.has(fs.statfsSync(directory).type >>> 0);
}

/** Not changed since the machine was started. */
function isOlderThanBoot({ mtimeMs, ctimeMs }: fs.Stats): boolean {
  return Math.max(mtimeMs, ctimeMs) < Date.now() - os.uptime() * 1000;
}

/** Whether the directory is one of ours whose owner is known to be gone. */
function isOrphan(parent: string, name: string, here: Place): boolean {
  const found = /^sandboxed-pty-(\d+)-(\w+)-(\w{4})(\w{4})-\w{6}$/.exec(name);
  if (!found) return false;
  const [, pid, start = '', namespace, boot] = found;
  const info = fs.lstatSync(path.join(parent, name));
  if (!info.isDirectory() || info.uid !== process.geteuid?.()) return false;
  if (boot !== here.boot) return isLocal(parent) && isOlderThanBoot(info);
  return namespace === here.namespace && isGone(Number(pid), start);
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

function warnOfLeftover(directory: string, error: string): void {
  const text = `${directory} was left by a session and cannot be removed (${error})`;
  process.emitWarning(text, { code: 'SANDBOXED_PTY_LEFTOVER' });
}

function warnUnlessGone(directory: string, errno: number): void {
  const error = errno === 0 ? 'ENOENT' : getSystemErrorName(-errno);
  // ENOENT: another host, or a keeper, did it at the same time.
  if (error !== 'ENOENT') warnOfLeftover(directory, error);
}

/**
 * Removes a directory of this user's with all that is in it. Through descriptors: whoever can write beside it may exchange
 * it for a link at any moment, and fs.rm() would follow that. At once, as a host that could not start a session may end
 * next, and may have no thread to spare.
 */
export function removeTree(directory: string): void {
  warnUnlessGone(directory, loadNative().removeOwnTree(directory));
}

/** The same for what others have left, of which there may be very much. */
function removeTreeInBackground(directory: string): void {
  try {
    loadNative().removeOwnTreeInBackground(directory, (errno) => warnUnlessGone(directory, Number(errno)));
  } catch (error) {
    warnOfLeftover(directory, (error as NodeJS.ErrnoException).code ?? 'unknown');
  }
}

/**
 * A host that dies while it starts a session may leave a directory that no keeper has heard of, and one that is killed
 * together with its keepers leaves those of its sessions, with all that is in them.
 *
 * A few names at a time, from the event loop: libuv's thread pool would be the way, but the first to ask for it where
 * no thread can be created ends the whole program (libuv aborts).
 */
function sweep(parent: string, place: Place, names: fs.Dir): void {
  for (let i = 0; i < atATime; i++) {
    const name = nextName(names);
    if (name === undefined) return names.closeSync();
    try {
      if (isOrphan(parent, name, place)) removeTreeInBackground(path.join(parent, name));
    } catch {
      // It went while we looked at it.
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
