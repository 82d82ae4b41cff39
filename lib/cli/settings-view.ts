import type { Grant, PolicyDescription } from '../policy';
import { has, Invocation } from './arguments';
import { UsageError } from './failure';
import { writeOut } from './output';
import { loadPolicy, loadSettings, SessionSettings } from './session-settings';
import { printable, Style, styleFor } from './style';
import { userSettingsPath } from './settings-files';

function origin({ layer, pointer }: { layer: string; pointer: string }, session: SessionSettings): string {
  return layer === 'default' ? 'default' : session.name(`${layer}:${pointer || '/'}`);
}

function list(title: string, items: readonly string[], style: Style): string[] {
  if (items.length === 0) return [];
  return [style.bold(title), ...items.map((item) => `  ${item}`)];
}

function grants(policy: PolicyDescription, rights: Grant['rights'], session: SessionSettings, style: Style): string[] {
  return policy.grants
    .filter((grant) => grant.rights === rights)
    .map(({ path, by }) => `${printable(path)}  ${style.dim(printable(origin(by, session)))}`);
}

function network({ mode, hosts, denied }: PolicyDescription['network']): string {
  if (mode === 'none') return 'none';
  const except = denied.length > 0 ? `, but ${denied.join(', ')}` : '';
  return `${mode === 'all' || hosts.length === 0 ? 'every host' : hosts.join(', ')}${except}`;
}

function describe(session: SessionSettings, policy: PolicyDescription, style: Style): string {
  const { settings, files, kind } = session;
  const effective = settings.effective(kind);
  const cut = policy.holes.filter((hole) => hole.exists && (hole.cutsRead || hole.cutsWrite)).map(({ path }) => printable(path));
  const state = policy.confined ? style.good('confined') : style.bad(`NOT confined (${printable(origin(policy.by, session))})`);
  return [
    `${style.bold('project')}  ${printable(policy.project)}`,
    `${style.bold('session')}  ${state}, profile ${effective.profile}, ${policy.strict ? 'strict' : 'not strict'}`,
    `${style.bold('files')}    ${printable(files.user ?? `${userSettingsPath()} (none)`)}; ${printable(files.project ?? 'no .sandboxed-pty.json')}`,
    `${style.bold('network')}  ${printable(network(policy.network))}  ${style.dim(printable(origin(policy.network.by, session)))}`,
    `${style.bold('git')}      ${policy.gitAccess}; temporary files ${policy.temp}; terminals inside ${policy.nestedPty}`,
    ...list('read and write', grants(policy, 'read+write', session, style), style),
    ...list('read and execute', grants(policy, 'read+execute', session, style), style),
    ...list('read', grants(policy, 'read', session, style), style),
    ...list('never (cut out of the above)', cut, style),
    ...list('UNIX sockets', policy.unixSockets.filter(({ exists }) => exists).map(({ path }) => printable(path)), style),
    ...list('environment', policy.environment.length > 0 ? [printable(policy.environment.join(' '))] : [], style),
    ...list('skipped', policy.skipped.filter(({ by }) => by.layer !== 'default').map(({ text, message }) => printable(`${text}: ${message}`)), style),
    ...list('asked for by the project, and refused', settings.refused.map(({ pointer, message }) => printable(`${pointer}: ${message}`)), style),
    '',
  ].join('\n');
}

export function showSettings(invocation: Invocation): number {
  if (invocation.words.length > 0) throw new UsageError('settings takes no arguments.');
  const session = loadSettings(invocation);
  const policy = loadPolicy(session);
  const description = policy.describe();
  policy.dispose();
  const { settings, files, kind } = session;
  if (has(invocation, 'json')) {
    const all = { files, effective: settings.effective(kind), origins: settings.origins(kind), refused: settings.refused, policy: description };
    writeOut(`${JSON.stringify(all, null, 2)}\n`);
  } else {
    writeOut(describe(session, description, styleFor(1)));
  }
  return 0;
}
