// Sessions in a worker that is the first to load the addon, and the last to leave it; then in two workers and in the main
// thread, each with the addon of its own environment.
'use strict';
const {Worker, isMainThread, parentPort} = require('node:worker_threads');

function run(text, done) {
  const pty = require('sandboxed-pty').spawn('sh', ['-c', `echo ${text}`], {});
  let output = '';
  pty.onData((data) => (output += data));
  pty.onExit(() => pty.dispose().then(({converged}) => done(`${output.trim()} ${converged}`)));
}

const inWorker = () => new Promise((resolve, reject) => {
  let message;
  new Worker(__filename).on('message', (said) => (message = said)).on('error', reject).on('exit', () => resolve(message));
});

async function main() {
  const alone = await inWorker();
  const all = await Promise.all([inWorker(), inWorker(), new Promise((resolve) => run('main', resolve))]);
  console.log([alone, ...all].join(', '));
}

if (isMainThread) main();
else run('worker', (line) => parentPort.postMessage(line));
