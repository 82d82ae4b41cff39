// What an emulator of programs can show of a binary: it loads, reads settings, and talks to its keeper. Older ones do not
// know the calls that the keeper needs, and then it must refuse.
'use strict';
const assert = require('node:assert');
const path = require('node:path');
const {createSandboxedPty, resolveSettings, spawn} = require(path.resolve(process.argv[2]));

async function main() {
  assert.throws(() => resolveSettings({user: {enabled: 'yes'}}), /enabled/);
  let pty;
  try {
    pty = spawn('/bin/sh', ['-c', 'echo "$(uname -m) $COLUMNS"; exit 3'], {cols: 91, rows: 24});
    assert.ok(pty.pid > 0); // spawn() does not wait for the keeper; the pid does
  } catch ({name, stage, code}) {
    assert.deepStrictEqual({name, stage, code}, {name: 'SandboxError', stage: 'subreaper', code: 'EINVAL'});
    console.log(`${process.platform}-${process.arch}: addon and keeper run; the emulator has no subreapers, and the keeper refuses`);
    return;
  }
  let output = '';
  pty.onData((data) => (output += data));
  const exit = await new Promise((resolve) => pty.onExit(resolve));
  assert.strictEqual(exit.exitCode, 3);
  assert.ok(output.startsWith('aarch64') || output.startsWith('x86_64'), output);

  assert.throws(() => createSandboxedPty({file: '/bin/sh', projectDir: process.cwd(), sandbox: {enabled: true, profile: 'workspace'}}),
    {name: 'SandboxError'}, 'strict settings must not start where nothing can be enforced');
  const running = createSandboxedPty({file: '/bin/sh', args: ['-c', 'echo up; read line'], projectDir: process.cwd()});
  await new Promise((resolve) => running.onData(resolve));
  const report = await running.dispose();
  assert.strictEqual(report.converged, true, JSON.stringify(report));
  console.log(`${process.platform}-${process.arch}: ${output.trim()}, exit ${exit.exitCode}, disposed of by ${report.mechanisms.join(' and ')}`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
