// The same package by import, by name and as a whole.
import assert from 'node:assert';
import library, {createSandboxedPty, SandboxError, spawn} from 'sandboxed-pty';

assert.strictEqual(library.spawn, spawn);
assert.throws(() => createSandboxedPty({file: '/no/such/program'}), SandboxError);
const pty = spawn('sh', ['-c', 'echo imported'], {});
let output = '';
pty.onData((data) => (output += data));
pty.onExit(async () => {
  assert.strictEqual(output, 'imported\r\n');
  assert.strictEqual((await pty.dispose()).converged, true);
  console.log('imported');
});
