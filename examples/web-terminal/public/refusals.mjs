// The kernel tells nobody but the program that something was refused. Programs say it in their own words; these are the usual ones.
const usual = /(?<verb>cannot \w+ )?[^\n]*?(?<path>(?:~|\.{0,2}\/)[^\s:'"‘’]+)['"’]?: (?:Permission denied|Operation not permitted)/g;

const writing = /touch|create|remove|make|move|write|overwrite/;

/** {access, target} of the last refusal in the text, or undefined. A guess: what a program prints proves nothing. */
export function lastRefusal(text) {
  const found = [...text.matchAll(usual)].at(-1);
  if (found === undefined) return undefined;
  return {access: writing.test(found.groups.verb ?? '') ? 'write' : 'read', target: found.groups.path};
}
