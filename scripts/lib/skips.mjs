// Skipped tests: each prints its reason, and only those in test/expected-skips.json may happen in CI.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {root} from './process.mjs';

/**
 * Entries are {name, reason, when}: both texts may contain * for anything, and `when` says who runs the tests: "root",
 * "unprivileged" or (if absent) anybody.
 */
export function loadExpectedSkips() {
  const who = process.getuid?.() === 0 ? 'root' : 'unprivileged';
  return JSON.parse(readFileSync(join(root, 'test', 'expected-skips.json'), 'utf8'))
    .filter((entry) => entry.when === undefined || entry.when === who);
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
