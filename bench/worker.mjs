// Measures one figure of one implementation, in a process of its own, and prints the result as one line of JSON.
//   node bench/worker.mjs <module> <figure> <parameters as JSON>
import {createRequire} from 'node:module';
import {commandSpawn, confinedSpawn, connect, fetching, work} from './figures/confine.mjs';
import {dispose, disposeMany, list} from './figures/dispose.mjs';
import {echo, kill} from './figures/latency.mjs';
import {idle} from './figures/idle.mjs';
import {input} from './figures/input.mjs';
import {lag, output} from './figures/output.mjs';
import {settings} from './figures/settings.mjs';
import {burst, spawn} from './figures/spawn.mjs';

const figures = {spawn, burst, output, lag, input, echo, kill, idle, confinedSpawn, commandSpawn, connect, work, fetching, dispose, disposeMany, list, settings};

const [module, figure, parameters] = process.argv.slice(2);
const pty = createRequire(import.meta.url)(module);
const result = await figures[figure](pty, JSON.parse(parameters));
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
