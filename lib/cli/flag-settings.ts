import { Failure, UsageError } from './failure';
import { Flag, settingFlags, SettingUse } from './flags';
import { has, Invocation, valueOf } from './arguments';

type Block = Record<string, unknown>;

/** What flags make of settings. */
export interface FlagSettings {
  /** The user's document with the flags in it. */
  document: Block;
  /** Pointer in it -> the flag that put it there. */
  origins: Map<string, string>;
  /** Variables to be set, whatever the settings say. */
  environment: Record<string, string>;
  /** The first one that means something in a sandbox only, unless it was asked to do without one. */
  needsSandbox?: string;
}

const limitNames = ['processes', 'memory_bytes', 'cpu_percent'];

/**
 * Lays the flags over the user's settings. They go into the block of this platform, because that is what comes last in a
 * user's document; lists are added to, as `--read` says "too".
 */
export class FlagMerger {
  private readonly block: Block;
  readonly origins = new Map<string, string>();
  private readonly environment: Record<string, string> = {};

  constructor(
    private readonly file: Block,
    private readonly platform: string,
    /** The default of a list that the file does not mention. */
    private readonly defaultOf: (key: string, document: Block) => readonly string[],
  ) {
    this.block = { ...(file[platform] as Block | null | undefined) };
  }

  merge(invocation: Invocation): FlagSettings {
    const used = settingFlags.flags.filter((flag) => has(invocation, flag.name));
    if (has(invocation, 'network') && has(invocation, 'no-network')) {
      throw new UsageError('--network and --no-network contradict each other.');
    }
    // Whoever says what a program may do wants it confined, whatever the file says.
    const [first] = used;
    if (first !== undefined) this.set(first.name, 'enabled', true);
    // The block is one layer with what the file says there: what contradicts a flag has to go.
    if (has(invocation, 'no-network')) for (const key of ['network_hosts', 'allow_all_hosts']) delete this.block[key];
    // A list of hosts means "only these", unless the network was opened in the same breath.
    if (has(invocation, 'host') && !has(invocation, 'network')) {
      for (const key of ['allow_network', 'allow_all_hosts']) delete this.block[key];
    }
    // Single values first: the defaults of lists depend on them.
    const lists = (flag: Flag) => flag.setting?.kind === 'append' || flag.setting?.kind === 'environment';
    for (const flag of [...used].sort((a, b) => Number(lists(a)) - Number(lists(b)))) {
      this.apply(flag, flag.setting as SettingUse, invocation.values.get(flag.name) ?? []);
    }
    const without = valueOf(invocation, 'profile') === 'off' || valueOf(invocation, 'backend') === 'noop';
    const needing = without ? undefined : used.find((flag) => flag.setting?.kind !== 'environment');
    return {
      document: this.document(),
      origins: this.origins,
      environment: this.environment,
      ...(needing && { needsSandbox: `--${needing.name}` }),
    };
  }

  private document(): Block {
    const enabled = this.file['enabled'] ?? true;
    if ((this.file['enabled'] ?? undefined) === undefined) this.origins.set('/enabled', 'the command itself');
    return { ...this.file, enabled, ...(Object.keys(this.block).length > 0 && { [this.platform]: this.block }) };
  }

  private apply(flag: Flag, use: SettingUse, values: readonly string[]): void {
    switch (use.kind) {
      case 'append':
        return this.append(flag.name, use.key, use.aliases ?? [], values);
      case 'choice':
        return this.choose(flag, use, values.at(-1) as string);
      case 'constant':
        return this.set(flag.name, use.key, use.to);
      case 'limit':
        return values.forEach((value) => this.limit(value));
      case 'environment':
        return this.letIn(values);
    }
  }

  private set(flag: string, key: string, value: unknown): void {
    this.block[key] = value;
    this.origins.set(`/${this.platform}/${key}`, `--${flag}`);
  }

  private choose(flag: Flag, use: SettingUse & { kind: 'choice' }, value: string): void {
    if (!use.values.includes(value)) throw new UsageError(`--${flag.name} is one of ${use.values.join(', ')}, not '${value}'.`);
    for (const alias of use.aliases ?? []) delete this.block[alias];
    this.set(flag.name, use.key, value);
  }

  private append(flag: string, key: string, aliases: readonly string[], values: readonly string[]): void {
    const names = [key, ...aliases];
    const written = [this.block, this.file].flatMap((block) => names.map((name) => block[name]));
    const before = (written.find((list) => Array.isArray(list)) as string[] | undefined) ?? this.defaultOf(key, this.document());
    for (const alias of aliases) delete this.block[alias];
    this.block[key] = [...before, ...values];
    if (before.length === 0) this.origins.set(`/${this.platform}/${key}`, `--${flag}`);
    values.forEach((value, i) => this.origins.set(`/${this.platform}/${key}/${before.length + i}`, `--${flag} ${value}`));
  }

  private limit(text: string): void {
    const [name = '', number = '', ...more] = text.split('=');
    if (!limitNames.includes(name) || !/^\d+(\.\d+)?$/.test(number) || more.length > 0) {
      throw new UsageError(`--limit takes ${limitNames.map((known) => `${known}=N`).join(', ')}, not '${text}'.`);
    }
    const before = (this.block['limits'] ?? this.file['limits'] ?? {}) as Block;
    this.set('limit', 'limits', { ...before, [name]: Number(number) });
    this.origins.set(`/${this.platform}/limits/${name}`, `--limit ${text}`);
  }

  private letIn(values: readonly string[]): void {
    const names: string[] = [];
    for (const value of values) {
      const equals = value.indexOf('=');
      if (equals === 0) throw new Failure(`--env ${value} names no variable.`);
      if (equals > 0) this.environment[value.slice(0, equals)] = value.slice(equals + 1);
      else names.push(value);
    }
    if (names.length > 0) this.append('env', 'allowed_env_vars', [], names);
  }
}
