// What Seatbelt keeps a confined session from, each with the same act where it is allowed.
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { ours, protection, runConfined, run, temporaryDirectory } from '../support';

/** A server on this machine that greets whoever connects. */
async function greeter(): Promise<{ port: number; close: () => void }> {
  const server = net.createServer((socket) => socket.end('hello\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as net.AddressInfo).port, close: () => server.close() };
}

const connect = (port: number): string => `/usr/bin/nc -w 5 127.0.0.1 ${port} && echo connected || echo refused`;

ours('every protection of the default profile is Seatbelt\'s', async () => {
  const { report, exit } = await runConfined('exit 3');
  expect(exit.exitCode).toBe(3);
  expect(report).toMatchObject({ confined: true, backend: 'seatbelt' });
  for (const name of ['files', 'unix-sockets', 'outsiders']) expect(protection(report, name).enforcedBy).toBe('seatbelt');
});

ours('files outside the project can be neither read nor written', async () => {
  const outside = temporaryDirectory();
  const secret = path.join(outside, 'secret');
  fs.writeFileSync(secret, 'classified\n');
  const script = `cat ${secret}; echo x > ${outside}/new && echo written; echo y > inside && echo inside`;
  const denied = await runConfined(script, { profile: 'workspace' });
  expect(denied.output).not.toContain('classified');
  expect(denied.output).not.toContain('written');
  expect(denied.output).toContain('inside');
  const granted = await runConfined(script, { profile: 'workspace', additional_read_write_paths: [outside] });
  expect(granted.output).toContain('classified');
  expect(granted.output).toContain('written');
});

ours('a hole stays closed, also when the directory that holds it is moved', async () => {
  const project = temporaryDirectory();
  fs.mkdirSync(path.join(project, 'sub/keys'), { recursive: true });
  fs.writeFileSync(path.join(project, 'sub/keys/id'), 'classified\n');
  const script = 'cat sub/keys/id; mv sub other && echo moved; cat other/keys/id; mkdir plain && mv plain plain2 && echo free';
  const options = { projectDir: project };
  const { output } = await runConfined(script, { denied_read_paths: [path.join(project, 'sub/keys')] }, options);
  expect(output).not.toContain('classified');
  expect(output).not.toContain('moved');
  expect(output).toContain('free');
  expect((await runConfined('cat sub/keys/id', { denied_read_paths: [] }, options)).output).toContain('classified');
});

// Where case does not matter, what the hole is about could come to be under another name.
ours('a hole that does not exist yet cannot be made in another case', async () => {
  const project = temporaryDirectory();
  const script = 'mkdir -p x/keys && mv x SUB && echo moved; mkdir Sub && echo made; mkdir -p y/keys && mv y other && echo free';
  const options = { projectDir: project };
  const { output } = await runConfined(script, { denied_read_paths: [path.join(project, 'sub/keys')] }, options);
  expect(output).not.toContain('moved');
  expect(output).not.toContain('made');
  expect(output).toContain('free');
  expect((await runConfined('mkdir -p z/keys && mv z SUB && echo moved', { denied_read_paths: [] }, options)).output).toContain('moved');
});

ours('files get second names where they may be written, and only there', async () => {
  const project = temporaryDirectory();
  fs.mkdirSync(path.join(project, '.git/hooks'), { recursive: true });
  fs.writeFileSync(path.join(project, '.git/hooks/commit-msg'), 'hook\n');
  const script =
    'echo x > one && ln one two && echo linked; mv two three && echo moved;' +
    'ln .git/hooks/commit-msg alias && echo aliased; cp -c one four || cp one four; cat four';
  const settings = { profile: 'workspace', git_access: 'commit' };
  const { output } = await runConfined(script, settings, { projectDir: project });
  expect(output).toContain('linked');
  expect(output).toContain('moved');
  expect(output).not.toContain('aliased');
  expect(fs.readFileSync(path.join(project, 'four'), 'utf8')).toBe('x\n');
  expect((await runConfined('ln .git/hooks/commit-msg alias && echo aliased', { ...settings, git_access: 'full' }, { projectDir: project })).output).toContain('aliased');
});

ours('the network is closed unless it is allowed', async () => {
  const { port, close } = await greeter();
  try {
    expect((await runConfined(connect(port), { allow_network: false })).output).toContain('refused');
    expect((await runConfined(connect(port), { allow_network: true })).output).toContain('connected');
    expect((await run('/bin/sh', ['-c', connect(port)])).output).toContain('connected');
  } finally {
    close();
  }
});

ours('nobody outside can be signalled, the session itself can', async () => {
  const script = `kill -0 ${process.pid} && echo reached; sleep 100 & kill $! && echo own; kill -0 $$ && echo self`;
  const { output } = await runConfined(script);
  expect(output).not.toContain('reached');
  expect(output).toContain('own');
  expect(output).toContain('self');
  expect((await run('/bin/sh', ['-c', `kill -0 ${process.pid} && echo reached`])).output).toContain('reached');
});

ours('no program is started outside through LaunchServices', async () => {
  const { output } = await runConfined('/usr/bin/open -a Calculator && echo opened || echo refused', { read_access: 'all' });
  expect(output).toContain('refused');
});

ours('raw mode, job control and terminals inside work', async () => {
  const script = 'stty raw && stty sane && echo raw; set -m; sleep 100 & kill %1; wait; echo jobs; /usr/bin/script -q /dev/null echo nested';
  const { output } = await runConfined(script);
  for (const word of ['raw', 'jobs', 'nested']) expect(output).toContain(word);
});
