// A confined shell in a web page, for the user of this machine: node server.mjs [--port <number>] [<directory>]
import {once} from 'node:events';
import {createServer} from 'node:http';
import {parseArgs} from 'node:util';
import {resolvePolicy, resolveSettings} from 'sandboxed-pty';
import {WebSocketServer} from 'ws';
import {Guard} from './guard.mjs';
import {createApp} from './pages.mjs';
import {chooseProject} from './project.mjs';
import {Session} from './session.mjs';

/** Nobody else's machine can connect to it. */
const address = '127.0.0.1';

const maxSessions = 8;

/** Of one message. The page cuts what was pasted into smaller pieces. */
const maxPayload = 64 * 1024;

const goingAway = 1001;

/** Throws, before anybody is waiting in front of a page, if the settings do not fit the directory: a home, for example. */
function checkSettings(projectDir) {
  const settings = resolveSettings({user: {enabled: true, profile: 'workspace'}});
  resolvePolicy({settings, projectDir}).dispose();
  return settings;
}

function refuseUpgrade(socket, status) {
  // Nobody reads from it any more, so that a peer that does not close would keep it open.
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Gives every socket that may be opened a session. Returns those that are open, as [socket, session] pairs. */
function acceptSockets(server, guard, place) {
  const open = new Map();
  const sockets = new WebSocketServer({noServer: true, maxPayload, perMessageDeflate: false});
  server.on('upgrade', (request, socket, head) => {
    // Whoever is refused may be gone before the answer is written.
    socket.on('error', () => socket.destroy());
    const refusal = guard.refusalOfSocket(request);
    if (refusal) {
      console.error(`A socket was refused: ${refusal}`);
      return refuseUpgrade(socket, '403 Forbidden');
    }
    if (open.size >= maxSessions) return refuseUpgrade(socket, '503 Service Unavailable');
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const session = new Session(webSocket, place);
      open.set(webSocket, session);
      webSocket.on('close', () => session.end().finally(() => open.delete(webSocket)));
    });
  });
  return open;
}

/** Sessions get their grace. A second signal ends the process, and with it, at once, everything else. */
function endOnSignals(server, open, cleanUp) {
  let ending = false;
  const end = async () => {
    if (ending) process.exit(1);
    ending = true;
    server.close();
    server.closeAllConnections();
    for (const webSocket of open.keys()) webSocket.close(goingAway, 'the server ends');
    await Promise.allSettled([...open.values()].map((session) => session.end()));
    cleanUp();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
}

async function main() {
  const {values, positionals} = parseArgs({allowPositionals: true, options: {port: {type: 'string', default: '0'}}});
  const {projectDir, note, cleanUp} = chooseProject(positionals[0]);
  process.on('exit', cleanUp);
  const settings = checkSettings(projectDir);

  const server = createServer();
  server.listen(Number(values.port), address);
  await once(server, 'listening');
  const guard = new Guard(`${address}:${server.address().port}`);
  server.on('request', createApp(guard));
  endOnSignals(server, acceptSockets(server, guard, {settings, projectDir}), cleanUp);

  if (note) console.log(note);
  console.log(
    `The session can write ${projectDir}, has no network, and reads no credentials. Ctrl-C here ends everything.`,
  );
  console.log(`Open ${guard.url}`);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
