// The rules of native/: which folder may include which, and what only certain folders may contain.
import {readdirSync, readFileSync} from 'node:fs';
import {join, relative} from 'node:path';
import {root} from './process.mjs';

const foundation = ['base', 'uapi'];
const parts = ['settings', 'policy', 'track', 'pty', 'confine'];

/** Folder -> the folders it may include besides itself. Dependencies run one way. */
const mayInclude = {
  base: ['uapi'],
  uapi: [],
  settings: foundation,
  policy: [...foundation, 'settings'],
  confine: [...foundation, 'settings', 'policy'],
  track: foundation,
  pty: foundation,
  keeper: [...foundation, 'track'],
  session: [...foundation, ...parts],
  binding: [...foundation, ...parts, 'session'],
};

/** What the keeper and the addon say to each other is the business of both. */
const sharedWithKeeper = /^keeper\/(wire|protocol|plan)[a-z_]*\.h$/;
const usersOfTheWire = ['session', ...parts];

/** A call of close(2): not a method, not close_range, not the word in another name. */
const closeCall = /(?<![\w.>]|->)(?:::)?close\s*\(/;
const platformConditional = /^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b(?:__linux__|__linux|__APPLE__|__MACH__|TARGET_OS_\w+)\b/;

/** Comments and string literals blanked out; line numbers stay. */
function withoutCommentsAndStrings(text) {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g,
    (match) => match.replace(/[^\n]/g, ' '));
}

function includeProblem(folder, header) {
  if (/^(napi|node_api|js_native_api|uv|v8|node)\.h$/.test(header)) {
    return folder === 'binding' ? undefined : `<${header}> belongs in binding/ only`;
  }
  const slash = header.indexOf('/');
  const target = header.slice(0, slash);
  if (slash === -1 || !(target in mayInclude) || target === folder) return undefined;
  if (mayInclude[folder].includes(target)) return undefined;
  if (usersOfTheWire.includes(folder) && sharedWithKeeper.test(header)) return undefined;
  return `${folder}/ must not include ${header}: ${folder}/ may use ${mayInclude[folder].join(', ') || 'nothing'}`;
}

/** All violations in one file's text: [{line, message}]. */
function checkFile(folder, text) {
  const found = [];
  const code = withoutCommentsAndStrings(text).split('\n');
  text.split('\n').forEach((raw, index) => {
    const report = (message) => found.push({line: index + 1, message});
    const header = raw.match(/^\s*#\s*include\s*[<"]([^>"]+)[>"]/)?.[1];
    const problem = header && includeProblem(folder, header);
    if (problem) report(problem);
    if (folder !== 'base' && closeCall.test(code[index])) report('close() belongs in base/ only: let an Fd own it');
    if (!foundation.includes(folder) && platformConditional.test(code[index])) {
      report('platform conditionals belong in base/ and uapi/: use a _linux.cc and a _macos.cc file');
    }
  });
  return found;
}

function* sourceFiles(dir) {
  for (const entry of readdirSync(dir, {withFileTypes: true})) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* sourceFiles(path);
    else if (/\.(cc|h)$/.test(entry.name)) yield path;
  }
}

/** All violations in native/: [{path, line, message}]. */
export function findViolations(native = join(root, 'native')) {
  const found = [];
  for (const entry of readdirSync(native, {withFileTypes: true})) {
    if (!entry.isDirectory()) continue;
    if (!(entry.name in mayInclude)) {
      const path = relative(root, join(native, entry.name));
      found.push({path, line: 1, message: 'is a folder without a rule; add it to scripts/lib/include-rules.mjs'});
      continue;
    }
    for (const path of sourceFiles(join(native, entry.name))) {
      for (const violation of checkFile(entry.name, readFileSync(path, 'utf8'))) {
        found.push({path: relative(root, path), ...violation});
      }
    }
  }
  return found;
}
