// Describes the machine without saying whose it is.
import {createRequire} from 'node:module';
import {cpus, loadavg, release, totalmem, type} from 'node:os';

const require = createRequire(import.meta.url);

export function describeMachine() {
  const cores = cpus();
  return {
    cpu: cores[0]?.model ?? 'unknown',
    cores: cores.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release().split('-')[0]}`,
    node: process.version,
    nodePty: require('node-pty/package.json').version,
    load: Math.round(loadavg()[0] * 10) / 10,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** Whether other programs used a good part of the cores in the minute before the run. */
export const isBusy = ({load, cores}) => load > cores / 2;

export const machineLine = (m) =>
  `${m.cpu}, ${m.cores} cores, ${m.memoryGiB} GiB, ${m.kernel}, Node ${m.node}, node-pty ${m.nodePty}, ${m.date}`;
