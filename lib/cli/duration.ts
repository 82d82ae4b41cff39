import { UsageError } from './failure';

const units: Record<string, number> = { ms: 1, s: 1000, '': 1000, m: 60_000, h: 3_600_000 };
const longest = 0x7fffffff; // what a timer can hold

/** '500ms', '90', '90s', '1.5m', '2h' in milliseconds. */
export function parseDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(number) * (units[unit] ?? NaN);
  if (number === '' || !(ms > 0 && ms <= longest)) {
    throw new UsageError(`--timeout takes a time such as 90, 90s, 500ms, 5m or 2h, not '${text}'.`);
  }
  return Math.ceil(ms);
}
