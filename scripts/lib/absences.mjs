// What a machine may lack, found out without any code of the tests: they say what they lack, and this says whether it is so.
import {accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync} from 'node:fs';
import {release} from 'node:os';
import {join} from 'node:path';
import {Failure} from './process.mjs';

/** The cgroup v2 directory that this process is in; undefined if there is none. */
function ownCgroup() {
  const mount = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').find((line) => line.includes(' - cgroup2 '))?.split(' ')[4];
  const own = readFileSync('/proc/self/cgroup', 'utf8').match(/^0::(.*)$/m)?.[1];
  return mount === undefined || own === undefined ? undefined : join(mount, own);
}

/** Sessions get their cgroups below ours or beside it: where we may make one, and move somebody into it. */
function writableCgroups() {
  const own = ownCgroup();
  return (own === undefined ? [] : [own, join(own, '..')]).filter((parent) => {
    const trial = join(parent, `sandboxed-pty-trial.${process.pid}`);
    try {
      accessSync(join(parent, 'cgroup.procs'), constants.W_OK);
      mkdirSync(trial);
      rmdirSync(trial);
      return true;
    } catch {
      return false; // not ours to divide, or no cgroup
    }
  });
}

/** Handed down to the cgroups of sessions, or it can be: only the topmost cgroup may do that while processes are in it. */
function hasController(name) {
  return writableCgroups().some((place) => {
    const lists = (file) => readFileSync(join(place, file), 'utf8').split(/\s+/).includes(name);
    const isTop = !existsSync(join(place, 'cgroup.type'));
    return lists('cgroup.subtree_control') || (isTop && lists('cgroup.controllers'));
  });
}

const systemPath = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** Part of the system's Python, whichever version that is. */
function hasPythonModule(name) {
  return existsSync('/usr/lib') && readdirSync('/usr/lib')
    .some((version) => /^python3(\.\d+)?$/.test(version) && existsSync(join('/usr/lib', version, name, '__init__.py')));
}

function isOlderKernel(version) {
  const [major, minor] = release().split('.').map(Number);
  const [wantedMajor, wantedMinor] = version.split('.').map(Number);
  return process.platform !== 'linux' || major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

/** `what` is "cgroup", "cgroup controller <name>", "kernel <version>", "program <name>", "python module <name>" or "file <path>". */
export function isAbsent(what) {
  const [, kind, name] = what.match(/^(cgroup controller|cgroup|kernel|program|python module|file)(?: (\S+))?$/) ?? [];
  if (kind === 'cgroup') return process.platform !== 'linux' || writableCgroups().length === 0;
  if (kind === 'cgroup controller' && name) return process.platform !== 'linux' || !hasController(name);
  if (kind === 'kernel' && name) return isOlderKernel(name);
  if (kind === 'program' && name) return !systemPath.some((dir) => existsSync(join(dir, name)));
  if (kind === 'python module' && name) return !hasPythonModule(name);
  if (kind === 'file' && name) return !existsSync(name);
  throw new Failure(`test/expected-skips.json: nobody knows how to look for ${what}`);
}
