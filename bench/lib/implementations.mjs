// Who is measured, and with which command. A command of undefined means: this implementation has no such figure.
import {spawnSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {program, root} from './programs.mjs';

const require = createRequire(import.meta.url);
const worker = join(root, 'bench', 'worker.mjs');

function javascript(module) {
  return (figure, parameters) => [process.execPath, '--expose-gc', worker, module, figure, JSON.stringify(parameters)];
}

/** Figures about confinement; node-pty has the start of an unconfined session to compare with. */
const confinement = ['confinedSpawn', 'confinedExit', 'confinedExitSrt', 'work', 'fetching', 'connect'];

function nodePty(figure, parameters) {
  if (['dispose', 'disposeMany', 'list', 'settings'].includes(figure)) return undefined;
  return confinement.includes(figure) && figure !== 'confinedSpawn' ? undefined : javascript('node-pty')(figure, parameters);
}

function ours(figure, parameters) {
  const name = figure.startsWith('confinedExit') ? 'confinedSpawn' : figure;
  return javascript(root)(name, parameters);
}

/** Our own sessions without a sandbox. */
const outside = (figure, parameters) =>
  ['work', 'fetching'].includes(figure) ? javascript(root)(figure, {...parameters, outside: true}) : undefined;

/** A sandbox that is a program, in front of /bin/true. */
const wrapper = (own, command) => (figure, parameters) =>
  figure === own ? javascript(root)('commandSpawn', {...parameters, command: [...command, 'true']}) : undefined;

const bwrap = ['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-all'];

function spawnModel(mode) {
  return (figure, p) => {
    if (figure === 'spawn') return [program('spawn'), mode, program('keeper_model'), p.heap, p.count, p.gap];
    // A burst finds at most one spare keeper, so there is nothing to measure for the spare modes.
    if (figure === 'burst' && !mode.startsWith('spare')) {
      return [program('spawn'), mode, program('keeper_model'), 0, p.count, 0, 'burst'];
    }
    return undefined;
  };
}

const reader = (mode) => (figure, p) =>
  figure === 'output' ? [program('reader'), mode, p.workload, p.sessions, p.ms] : undefined;

function plainC(figure, p) {
  switch (figure) {
    case 'input': return [program('writer'), program('sink'), p.bytes, p.block];
    case 'echo': return [program('echo'), 'round-trip', p.bytes, p.count, p.gap];
    case 'kill': return [program('echo'), 'kill', p.count];
    case 'dispose': return p.kind === 'shell' ? undefined : [program('crowd'), 'kill', p.kind, p.n, p.count];
    case 'list': return [program('crowd'), 'list', p.kind, p.n, p.count];
    default: return reader('blocking')(figure, p) ?? spawnModel('forkpty')(figure, p);
  }
}

const implementations = {
  'node-pty': {module: 'node-pty', command: nodePty},
  ours: {module: root, command: ours},
  c: {command: plainC},
  'c-epoll': {command: reader('epoll')},
  'c-keeper': {command: spawnModel('keeper')},
  'c-spare': {command: spawnModel('spare')},
  outside: {module: root, command: outside},
  bwrap: {probe: [...bwrap, 'true'], command: wrapper('confinedExit', bwrap)},
  srt: {probe: ['srt', 'true'], command: wrapper('confinedExitSrt', ['srt'])},
};

/** Measured only when named: ways for the keeper to answer sooner. */
const extra = Object.fromEntries(['keeper-vfork', 'keeper-early', 'spare-vfork', 'spare-early'].map(
  (mode) => [`c-${mode}`, {command: spawnModel(mode)}]));

function whyNot({module, probe}) {
  if (probe !== undefined) {
    const {status, error, stderr} = spawnSync(probe[0], probe.slice(1), {encoding: 'utf8', timeout: 30_000});
    return status === 0 ? undefined : error?.message ?? stderr.trim().split('\n')[0];
  }
  if (module === undefined) return undefined;
  try {
    require(module);
    return undefined;
  } catch (error) {
    return error.message.split('\n')[0].replaceAll(root, '.');
  }
}

/**
 * The implementations named in `names` (comma-separated; `c` stands for all C programs), or all that can be loaded.
 * One that was asked for and cannot be loaded is an error; otherwise `skipped` says why.
 */
export function choose(names) {
  const all = {...implementations, ...extra};
  const asked = names?.split(',').flatMap((name) =>
    name === 'c' ? Object.keys(implementations).filter((n) => n === 'c' || n.startsWith('c-')) : [name]);
  const unknown = asked?.filter((name) => !all[name]);
  if (unknown?.length) throw new Error(`unknown implementation ${unknown}; there are ${Object.keys(all).join(', ')}`);
  const chosen = [];
  const skipped = {};
  for (const name of new Set(asked ?? Object.keys(implementations))) {
    const reason = whyNot(all[name]);
    if (reason === undefined) chosen.push({name, command: all[name].command});
    else if (asked) throw new Error(`${name} cannot be loaded: ${reason}`);
    else skipped[name] = reason;
  }
  return {chosen, skipped};
}
