import type { Tracking } from '../disposal';
import type { Enforcement } from '../enforcement';
import { printable } from './style';

/** One line: what held the session. */
export function summarize(enforcement: Enforcement, tracking: Tracking): string {
  const tracked = `tracked by ${tracking.mechanisms.join(', ')}`;
  const by = new Map<string, string[]>();
  for (const { name, enforcedBy } of enforcement.protections) {
    if (enforcedBy !== undefined) by.set(enforcedBy, [...(by.get(enforcedBy) ?? []), name]);
  }
  const held = [...by].map(([means, names]) => `${names.join(', ')} (${means})`).join('; ');
  if (!enforcement.confined) {
    const left = held === '' ? '' : `; enforced all the same: ${held}`;
    return `not confined: ${printable(enforcement.reason ?? 'not asked for')}${left}; ${tracked}`;
  }
  const missing = enforcement.protections.filter((protection) => protection.missing).map(({ name }) => name);
  return `enforced: ${held}${missing.length > 0 ? `; NOT enforced: ${missing.join(', ')}` : ''}; ${tracked}`;
}

const refusal = /permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|network is unreachable/i;

/** Whether the program said that something was refused, in English and to its terminal. The kernel does not tell us: a guess. */
export function saysRefused(output: string): boolean {
  return refusal.test(output);
}
