// The private `_socket` of node-pty, as far as clients reach into it.
import { Writable } from 'node:stream';
import { better, contract, script } from './support';

const parrot = 'stty -echo; echo ready; while read line; do echo "<$line>"; done';

contract('_socket has the members of a stream that clients use, and those that chain do', async () => {
  const session = script(parrot);
  const socket: any = session.pty._socket;
  const nothing = (): void => {};
  expect(socket.on('data', nothing)).toBe(socket);
  expect(socket.listeners('data')).toContain(nothing);
  expect(socket.removeListener('data', nothing)).toBe(socket);
  expect(socket.listeners('data')).not.toContain(nothing);
  expect(socket.addListener('data', nothing).off('data', nothing)).toBe(socket);
  expect(socket.listeners('data')).not.toContain(nothing);
  expect(socket.setEncoding('utf8')).toBe(socket);
  expect([socket.readable, socket.destroyed]).toEqual([true, false]);
  await session.printed('ready');
});

contract('what _socket emits is heard by its listeners', () => {
  const socket: any = script('read line').pty._socket;
  const heard: unknown[] = [];
  socket.on('own', (...args: unknown[]) => heard.push(args));
  expect(socket.emit('own', 1, 2)).toBe(true);
  expect(socket.emit('nobody')).toBe(false);
  expect(heard).toEqual([[1, 2]]);
});

contract('_socket.pipe copies the output', async () => {
  const session = script(parrot);
  let copied = '';
  const destination = new Writable({ write: (chunk, _encoding, done) => ((copied += chunk), done()) });
  expect((session.pty._socket as any).pipe(destination)).toBe(destination);
  session.pty.write('line\r');
  await session.printed('<line>');
  expect(copied).toContain('<line>');
});

better('_socket is destroyed after the exit, and destroy() makes it so at once', async () => {
  const ended = script('exit 0');
  await ended.exit();
  expect((ended.pty._socket as any).destroyed).toBe(true);
  const running = script('read line');
  const socket: any = running.pty._socket;
  socket.destroy();
  expect([socket.destroyed, socket.readable]).toEqual([true, false]);
  await running.exit();
});
