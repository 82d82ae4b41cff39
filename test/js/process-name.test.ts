// The `process` member: what runs in the foreground.
import { contract, linux, openFds, script, start, temporaryDirectory, track, load, until, writeScript } from './support';

contract('an idle shell is named as it was started', async () => {
  for (const file of ['/bin/sh', 'sh']) {
    const session = start(file, ['-c', 'echo ready; read line']);
    await session.printed('ready');
    expect(session.pty.process).toBe(file);
  }
});

contract('a foreground job is named while it runs, and the shell again afterwards', async () => {
  const session = script('set -m; cat; echo "ended $?"; read line');
  session.pty.write('job\r');
  await session.printed('job', 2);
  expect(session.pty.process).toBe('cat');
  session.pty.write('\x04');
  await session.printed('ended 0');
  expect(session.pty.process).toBe('/bin/sh');
});

contract('a background job does not count', async () => {
  const session = script('set -m; sleep 1000 & echo ready; read line; kill %1');
  await session.printed('ready');
  expect(session.pty.process).toBe('/bin/sh');
  session.pty.write('\r');
  await session.exit();
});

contract.needing(linux)('the name is argv[0] of the leader of the foreground group', async () => {
  const file = writeScript(`${temporaryDirectory()}/odd name`, '#!/bin/sh\necho ready\nread line\n');
  const session = start(file, ['argument']);
  await session.printed('ready');
  expect(session.pty.process).toBe('/bin/sh'); // the interpreter runs, so its argv[0] is the name
});

contract('it is a name right after spawn', () => {
  const session = track(load().spawn('cat', [], {}));
  expect(session.pty.process).toEqual(expect.any(String));
  expect(session.pty.process).not.toBe('');
});

contract('it never throws, at any moment of a short life', async () => {
  const session = script('exit 0');
  await until('it has exited', () => {
    expect(session.pty.process).not.toBe('');
    return session.exits.length > 0;
  });
  await session.exit();
});

contract('after the exit it is the file as given', async () => {
  const session = start('sh', ['-c', 'exit 0']);
  await session.exit();
  expect(session.pty.process).toBe('sh');
});

contract('after destroy it is the file as given', async () => {
  const session = start('cat', []);
  session.pty.destroy();
  await session.exit();
  expect(session.pty.process).toBe('cat');
});

contract.needing(linux)('asking a thousand times leaves nothing open', async () => {
  const session = script('echo ready; read line');
  await session.printed('ready');
  const before = openFds();
  for (let i = 0; i < 1000; i++) void session.pty.process;
  expect(openFds()).toEqual(before);
});
