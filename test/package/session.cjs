// One plain and one confined session, each disposed of; run by Node inside a folder where the package is installed.
'use strict';
const assert = require('node:assert');
const {spawn, createSandboxedPty} = require('sandboxed-pty');

const outputOf = (pty) => new Promise((resolve) => {
  let output = '';
  pty.onData((data) => (output += data));
  pty.onExit((exit) => resolve({output, ...exit}));
});

async function main() {
  const plain = await outputOf(spawn('sh', ['-c', 'echo spawned; exit 3'], {cols: 80, rows: 24}));
  assert.deepStrictEqual(plain, {output: 'spawned\r\n', exitCode: 3, signal: 0});

  const pty = createSandboxedPty({file: 'sh', projectDir: process.cwd(), args: ['-c', 'sleep 1000 & echo started; wait'],
    sandbox: {enabled: true, profile: 'workspace', strict: process.env.STRICT !== '0'}});
  await new Promise((resolve) => pty.onData(resolve));
  const report = await pty.dispose();
  assert.strictEqual(report.converged, true, JSON.stringify(report));
  console.log(`confined: ${pty.sandbox.confined}, disposed of by ${report.mechanisms.join(' and ')}`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
