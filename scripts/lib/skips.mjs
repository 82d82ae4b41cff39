// Skipped tests: each prints its reason, and only those in test/expected-skips.json may happen in CI.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {isAbsent} from './absences.mjs';
import {Failure, root} from './process.mjs';

/**
 * Entries are {name, reason, when, on, absent}: both texts may contain * for anything. `when` says who runs the tests, "root"
 * or "unprivileged", and `on` where, as Node.js names it: "linux", "darwin". Without them it is anybody, anywhere. `absent`
 * names what must be missing here, as absences.mjs finds out for itself: a test that skips in spite of it is a surprise.
 */
export function loadExpectedSkips(who = process.getuid?.() === 0 ? 'root' : 'unprivileged', platform = process.platform) {
  const entries = JSON.parse(readFileSync(join(root, 'test', 'expected-skips.json'), 'utf8'));
  for (const entry of entries) {
    const strange = Object.keys(entry).filter((key) => !['name', 'reason', 'when', 'on', 'absent'].includes(key));
    if (strange.length > 0) throw new Failure(`test/expected-skips.json: nothing is called ${strange.join(' or ')}`);
  }
  return entries.filter(({when = who, on = platform, absent}) =>
    when === who && on === platform && (absent === undefined || isAbsent(absent)));
}

function matches(pattern, text) {
  const escaped = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 's').test(text);
}

/** Prints every skip with its reason and returns how many were not expected. */
export function reportSkips(skips, expected) {
  let surprises = 0;
  for (const {name, reason} of skips) {
    const known = expected.some((entry) => matches(entry.name, name) && matches(entry.reason, reason));
    if (!known) surprises += 1;
    console.log(`skipped: ${name}: ${reason}${known ? '' : ' (not in test/expected-skips.json)'}`);
  }
  return surprises;
}
