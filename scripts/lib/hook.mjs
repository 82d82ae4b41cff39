// npm runs a script named "prebuild" before every "build", too, and tells it nothing of the difference.
import {readFileSync} from 'node:fs';

function parentOf(pid) {
  // The name in parentheses may hold anything; what follows the last one does not.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Linux only. True if npm started this script, named `name`, because of another script: its own command line does not name it. */
export function isHook(name) {
  if (process.env.npm_lifecycle_event !== name) return false;
  for (let pid = process.ppid; pid > 1; pid = parentOf(pid)) {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ');
    if (!/^\S*(sh|dash)\b/.test(line)) return !line.includes(name);
  }
  return false;
}
