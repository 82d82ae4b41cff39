// The kernel tells nobody but the program that something was refused. Programs say it in words of their own; these are
// the usual ones. No clever expression here: the text is the program's, and it must not be able to keep the page busy.
const ends = [': Permission denied', ': Operation not permitted'];

const writing = /cannot (?:touch|create|remove|make|move|overwrite)/;

function refusalIn(line) {
  const end = ends.find((each) => line.endsWith(each));
  if (end === undefined) return undefined;
  const before = line.slice(0, -end.length).replace(/['"’]$/, '');
  const target = before.split(/[\s:'"‘’]/).at(-1);
  if (!/^(?:~|\.{0,2}\/)/.test(target)) return undefined;
  return {access: writing.test(before) ? 'write' : 'read', target};
}

/** {access, target} of the last refusal in the text, or undefined. A guess: what a program prints proves nothing. */
export function lastRefusal(text) {
  const lines = text.split('\n').slice(0, -1);
  return lines
    .map((line) => refusalIn(line.trimEnd()))
    .filter(Boolean)
    .at(-1);
}
