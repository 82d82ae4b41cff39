// Compiles a text beside the typings of this package, only in memory.
import * as path from 'path';

import * as ts from 'typescript';

const root = path.join(__dirname, '..', '..', '..');

/** The first complaint about each line, by the number of the line; the first one has number 0. */
export function complaintsOf(lines: readonly string[]): Map<number, string> {
  const file = path.join(root, 'dist', 'in-memory.ts');
  const source = lines.join('\n');
  const options: ts.CompilerOptions = { strict: true, noEmit: true, types: [], target: ts.ScriptTarget.ES2022, skipLibCheck: true };
  const host = ts.createCompilerHost(options);
  const readSource = host.getSourceFile.bind(host);
  host.getSourceFile = (name, version, ...rest) =>
    name === file ? ts.createSourceFile(name, source, version) : readSource(name, version, ...rest);
  const fileExists = host.fileExists.bind(host);
  host.fileExists = (name) => name === file || fileExists(name);
  const program = ts.createProgram([file], options, host);
  const tree = program.getSourceFile(file) as ts.SourceFile;
  const complaints = new Map<number, string>();
  for (const diagnostic of [...program.getSyntacticDiagnostics(tree), ...program.getSemanticDiagnostics(tree)]) {
    const { line } = ts.getLineAndCharacterOfPosition(tree, diagnostic.start ?? 0);
    if (!complaints.has(line)) complaints.set(line, ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
  }
  return complaints;
}
