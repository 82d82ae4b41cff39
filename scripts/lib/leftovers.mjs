// What a run of the tests leaves where it does not belong.
import {readdirSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';

/** All that the tests and the library make among the temporary files is named like this; another run at the same time makes such, too. */
const ours = /^\.?(spty|sandboxed-pty|pty-test|pty-compat)-/;

/** A keeper whose host has just ended may still be clearing up. */
const graceMs = 5000;

function names() {
  const inRoot = readdirSync('/').map((name) => join('/', name));
  const inTemp = readdirSync(tmpdir()).filter((name) => ours.test(name)).map((name) => join(tmpdir(), name));
  return new Set([...inRoot, ...inTemp]);
}

/** Call it before the tests; what it returns is a suite to be run after them. */
export function watchLeftovers() {
  const before = names();
  const added = () => [...names()].filter((name) => !before.has(name));
  return async () => {
    const deadline = Date.now() + graceMs;
    while (added().length > 0 && Date.now() < deadline) await delay(50);
    const left = added();
    for (const name of left) console.error(`left behind: ${name}`);
    const failed = left.length > 0 ? 1 : 0;
    return {passed: 1 - failed, failed, skipped: []};
  };
}
