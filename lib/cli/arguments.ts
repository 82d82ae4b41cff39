import { parseArgs } from 'util';

import { UsageError } from './failure';
import { Command, commands, Flag, flagsOf } from './flags';

/** What was typed, with every name checked and nothing interpreted yet. */
export interface Invocation {
  command: Command;
  /** One entry per use. */
  values: ReadonlyMap<string, readonly string[]>;
  /** The program and its arguments, or the command's own words. */
  words: string[];
}

export type Request = Invocation | 'help' | 'version' | { helpFor: Command };

export function has(invocation: Invocation, flag: string): boolean {
  return invocation.values.has(flag);
}

/** The last one counts. */
export function valueOf(invocation: Invocation, flag: string): string | undefined {
  return invocation.values.get(flag)?.at(-1);
}

/** Where the program's own command line begins: its options are not ours. */
function findProgram(args: readonly string[], flags: readonly Flag[]): number {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (arg === '--' || !arg.startsWith('-') || arg === '-') return i;
    const takesNext = !arg.includes('=') && flags.some(({ name, value }) => value !== undefined && arg === `--${name}`);
    if (takesNext) i += 1;
  }
  return args.length;
}

function similar(typed: string, names: readonly string[]): string {
  const close = names.find((name) => name.startsWith(typed) || typed.startsWith(name));
  return close === undefined ? '' : ` Did you mean ${close}?`;
}

function checkName(arg: string, flags: readonly Flag[], command: Command): void {
  const typed = arg.split('=')[0];
  const names = flags.map(({ name }) => `--${name}`);
  if (!names.includes(typed)) throw new UsageError(`${command.name} has no option ${typed}.${similar(typed, names)}`);
}

function parseFlags(args: string[], command: Command): { values: Map<string, string[]>; words: string[] } {
  const flags = flagsOf(command);
  const options = Object.fromEntries(
    flags.map(({ name, value }) => [name, { type: value === undefined ? ('boolean' as const) : ('string' as const) }]),
  );
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const values = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    checkName(token.rawName, flags, command);
    const takes = flags.find(({ name }) => name === token.name)?.value;
    if (takes !== undefined && (token.value === undefined || (!token.inlineValue && token.value.startsWith('--')))) {
      throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${takes}`);
    }
    if (takes === undefined && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value.`);
    values.set(token.name, [...(values.get(token.name) ?? []), token.value ?? '']);
  }
  return { values, words };
}

function parseCommand(command: Command, args: string[]): Request {
  const flags = flagsOf(command);
  const program = command.runs ? findProgram(args, flags) : args.length;
  const own = args.slice(0, program);
  if (own.some((arg) => arg === '--help' || arg === '-h')) return { helpFor: command };
  const { values, words } = parseFlags(own, command);
  const rest = args.slice(program);
  if (rest[0] === '--') rest.shift();
  return { command, values, words: [...words, ...rest] };
}

/** argv without node and the script. Throws a UsageError. */
export function parseCommandLine(argv: readonly string[]): Request {
  const [first, ...rest] = argv;
  if (first === undefined) throw new UsageError('What is to be done? For example: sandboxed-pty run -- npm test');
  if (first === '--version' || first === '-V' || first === 'version') return 'version';
  const named = commands.find(({ name }) => name === (first === 'help' ? rest[0] : first));
  if (first === 'help' && named) return { helpFor: named };
  if (first === '--help' || first === '-h' || first === 'help') return 'help';
  if (named) return parseCommand(named, rest);
  const names = commands.map(({ name }) => name);
  throw new UsageError(
    first.startsWith('-')
      ? `Options come after the command: sandboxed-pty run ${first} ...`
      : `There is no command '${first}'.${similar(first, names)} To run a program: sandboxed-pty run -- ${first}`,
  );
}
