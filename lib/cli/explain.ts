import * as path from 'path';

import { Access, explain } from '../policy';
import { has, Invocation } from './arguments';
import { UsageError } from './failure';
import { writeOut } from './output';
import { loadPolicy, loadSettings } from './session-settings';
import { printableLines, styleFor } from './style';

const accesses: readonly string[] = ['read', 'write', 'execute', 'connect'];

/** A path as the user means it: relative to where they are. Hosts, ~ and variables stay. */
function target(access: string, text: string): string {
  if (access === 'connect' && !text.startsWith('.')) return text;
  return /^[/~$]/.test(text) ? text : path.resolve(text);
}

/** The exit code: 0 if it is allowed. */
export function explainAccess(invocation: Invocation): number {
  const [access = '', text = '', ...more] = invocation.words;
  if (!accesses.includes(access) || text === '' || more.length > 0) {
    throw new UsageError(`explain takes one of ${accesses.join(', ')}, and a path or host: sandboxed-pty explain read ~/.ssh`);
  }
  const session = loadSettings(invocation);
  const policy = loadPolicy(session);
  const { confined } = policy.describe();
  const explanation = explain(policy, access as Access, target(access, text));
  policy.dispose();
  if (has(invocation, 'json')) {
    writeOut(`${JSON.stringify({ ...explanation, text: session.name(explanation.text), confined }, null, 2)}\n`);
  } else {
    const style = styleFor(1);
    const [first = '', ...rest] = printableLines(session.name(explanation.text)).split('\n');
    writeOut(`${[(explanation.allowed ? style.good : style.bad)(first), ...rest].join('\n')}\n`);
    if (!confined) writeOut('The session is not confined: everything is allowed.\n');
  }
  return explanation.allowed || !confined ? 0 : 1;
}
