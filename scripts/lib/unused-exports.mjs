// Exports of lib/, scripts/lib and the examples that nobody imports: dead code, or a function that could be private.
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {root} from './process.mjs';

/** What users import. */
const entryPoints = ['lib/index.ts', 'lib/index.mts', 'lib/cli/main.ts'];

/** Not readdir's own recursion: that follows links, and the example's dependencies have one to this very package. */
function filesBelow(dir) {
  return readdirSync(join(root, dir), {withFileTypes: true}).flatMap((entry) => {
    if (entry.isFile()) return [join(dir, entry.name)];
    return entry.isDirectory() && entry.name !== 'node_modules' ? filesBelow(join(dir, entry.name)) : [];
  });
}

const filesIn = (dirs, pattern) => dirs.flatMap(filesBelow).filter((path) => pattern.test(path));

const declared = /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

/** By name and not by resolution: a name that two files export counts as used if it is in either. */
export function unusedExports() {
  const sources = filesIn(['lib', 'scripts/lib', 'examples'], /\.(ts|mts|mjs)$/);
  const users = filesIn(['lib', 'scripts', 'test', 'bench', 'examples'], /\.(ts|mts|mjs|cjs|js)$/);
  const texts = new Map(users.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const unused = [];
  for (const path of sources.filter((each) => !entryPoints.includes(each))) {
    for (const [, name] of texts.get(path).matchAll(declared)) {
      const word = new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`);
      const used = [...texts].some(([other, text]) => other !== path && word.test(text));
      // A type that another export of the same file mentions is part of that export's signature.
      const isType = new RegExp(`^export (?:interface|type) ${name}\\b`, 'm').test(texts.get(path));
      const mentions = texts.get(path).match(new RegExp(word, 'g')).length;
      if (!used && !(isType && mentions > 1)) unused.push(`${path}: nobody imports ${name}`);
    }
  }
  return unused;
}
