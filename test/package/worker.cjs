// Sessions in two worker threads and in the main one, each with the addon of its own environment.
'use strict';
const {Worker, isMainThread, parentPort} = require('node:worker_threads');
const {spawn} = require('sandboxed-pty');

function run(text, done) {
  const pty = spawn('sh', ['-c', `echo ${text}`], {});
  let output = '';
  pty.onData((data) => (output += data));
  pty.onExit(() => pty.dispose().then(({converged}) => done(`${output.trim()} ${converged}`)));
}

if (isMainThread) {
  const work = [1, 2].map(() => new Promise((resolve, reject) => {
    new Worker(__filename).on('message', resolve).on('error', reject);
  }));
  Promise.all([...work, new Promise((resolve) => run('main', resolve))]).then((all) => console.log(all.join(', ')));
} else {
  run('worker', (line) => parentPort.postMessage(line));
}
