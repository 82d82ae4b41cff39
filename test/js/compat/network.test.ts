// Sockets: the loopback, and those in the file system.
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import * as path from 'node:path';
import { needing, Place, runTask, sameEverywhere, success } from './support';
import { temporaryDirectory } from '../support';

async function withServer<T>(body: (port: number) => Promise<T>): Promise<T> {
  const server = createHttpServer((_request, response) => response.end('from the server\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await body((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

needing('curl')('curl fetches from a server on the loopback', async () => {
  await withServer(async (port) => {
    await sameEverywhere('from the server\n', { script: `curl -sS http://127.0.0.1:${port}/` }, ['terminal']);
    await sameEverywhere('from the server\n', { script: `curl -sS http://localhost:${port}/` }, ['terminal']);
  });
});

needing('curl', 'python3')('without network there is no loopback either, and programs say so at once', async () => {
  await withServer(async (port) => {
    const curl = await runTask('workspace', { script: `curl -sS http://127.0.0.1:${port}/` });
    expect(curl.exit.exitCode).toBe(7);
    expect(curl.output).toMatch(/^curl: \(7\) .*connect/);
    const python = await runTask('workspace', {
      script: `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${port}))' 2>&1 | tail -n 1`,
    });
    expect(python.output).toBe('PermissionError: [Errno 13] Permission denied\n');
    const script = `curl -sS http://127.0.0.1:${port}/`;
    expect(await runTask('workspace', { script, sandbox: { allow_network: true } })).toEqual(success('from the server\n'));
  });
});

needing('python3', 'curl')('a server of the session serves itself', async () => {
  const script = `
    : > log; python3 -u -m http.server --bind 127.0.0.1 0 > log 2>&1 & server=$!
    until port=$(grep -o 'port [0-9]*' log | cut -d' ' -f2) && [ -n "$port" ]; do :; done
    curl -sS "http://127.0.0.1:$port/file"; kill $server; wait $server 2> /dev/null; true`;
  await sameEverywhere('text\n', { files: { 'project/file': 'text\n' }, script }, ['terminal']);
});

const listen = `
import socket, sys, os
def talk(family, kind, name):
    server = socket.socket(family, kind)
    server.bind(name)
    server.listen()
    client = socket.socket(family, kind)
    client.connect(name)
    peer, _ = server.accept()
    peer.sendall(b"heard")
    print(client.recv(10).decode())
directory = sys.argv[1]
talk(socket.AF_UNIX, socket.SOCK_STREAM, directory + "/stream")
talk(socket.AF_UNIX, socket.SOCK_SEQPACKET, directory + "/packets")
talk(socket.AF_UNIX, socket.SOCK_STREAM, "\\0pty-compat-%d" % os.getpid())
`;

needing('python3')('UNIX sockets of the session: in the project, in the temporary directory, abstract', async () => {
  const files = { 'project/listen.py': listen };
  const script = 'd=$(mktemp -d); python3 listen.py . && python3 listen.py "$d"; rm -r "$d"';
  await sameEverywhere('heard\n'.repeat(6), { files, script });
});

needing('python3')('a UNIX socket of somebody else is refused, unless it is in the project or in unix_sockets', async () => {
  const client = `
import socket, sys
peer = socket.socket(socket.AF_UNIX)
try:
    peer.connect(sys.argv[1])
    print(peer.recv(20).decode())
except OSError as error:
    print(error.strerror)
`;
  const answer = async (socket: string, where: 'outside' | 'terminal', sandbox?: object): Promise<string> => {
    const task = { files: { 'project/client.py': client }, script: `python3 client.py ${socket}`, sandbox };
    return (await runTask(where, task)).output;
  };
  const directory = temporaryDirectory();
  const socket = path.join(directory, 'socket');
  const server = createServer((peer) => peer.end('from outside'));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  try {
    expect(await answer(socket, 'outside')).toBe('from outside\n');
    expect(await answer(socket, 'terminal')).toBe('Permission denied\n');
    expect(await answer(socket, 'terminal', { unix_sockets: [socket] })).toBe('from outside\n');
    const place = new Place({ 'project/client.py': client });
    const inProject = path.join(place.project, 'socket');
    const second = createServer((peer) => peer.end('from the project'));
    await new Promise<void>((resolve) => second.listen(inProject, resolve));
    const session = place.start('terminal', 'python3', ['client.py', 'socket']);
    await session.exit();
    second.close();
    expect(session.output).toBe('from the project\r\n');
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

needing('ip')('ip shows interfaces and routes', async () => {
  await sameEverywhere('lo\n', { script: 'ip -o link show lo | grep -o lo: | head -n 1 | tr -d :' });
});
