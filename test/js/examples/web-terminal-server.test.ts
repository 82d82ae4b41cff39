// Who may talk to the server, and what it does with those who do not keep to the rules.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { isRunning, ours, repositoryRoot, until } from '../support';
import { BareClient, dependencies, statusOf, upgrade, WebServer, withServer } from './support';

const test = ours.needing(dependencies);

test('the page needs the token, and nothing needs another Host', () =>
  withServer(async (_server, url) => {
    const page = `/${url.search}`;
    expect(await statusOf(url, page)).toBe(200);
    for (const target of ['/', '//', '/?token=', '/?token=wrong', `${page}x`, page.slice(0, -1), '/?token=a&token=b', '/?token[]=a']) {
      expect([target, await statusOf(url, target)]).toEqual([target, 403]);
    }
    expect(await statusOf(url, '/page.mjs')).toBe(200);
    for (const Host of [`localhost:${url.port}`, '127.0.0.1', 'attacker.example', `attacker.example:${url.port}`]) {
      for (const target of [page, '/page.mjs']) expect([Host, await statusOf(url, target, { Host })]).toEqual([Host, 403]);
    }
  }));

test('no file is served that is not listed', () =>
  withServer(async (_server, url) => {
    for (const target of ['/index.html', '/server.mjs', '/../server.mjs', '/%2e%2e/server.mjs', '/vendor/', '/%', '/session']) {
      const status = await statusOf(url, target + url.search);
      expect([target, status === 404 || status === 400]).toEqual([target, true]);
    }
    expect(await statusOf(url, `/${url.search}`)).toBe(200);
  }));

test('a socket needs token, Origin and Host', () =>
  withServer(async (server, url) => {
    const socket = `/session${url.search}`;
    expect(await statusOf(url, socket, upgrade(url.origin))).toBe(101);
    for (const origin of [undefined, 'null', 'http://attacker.example', `https://${url.host}`, `http://localhost:${url.port}`, 'http://127.0.0.1']) {
      expect([origin, await statusOf(url, socket, upgrade(origin))]).toEqual([origin, 403]);
    }
    for (const target of ['/session', '/session?token=wrong', '/session?', '//', '/%?token=%']) {
      expect([target, await statusOf(url, target, upgrade(url.origin))]).toEqual([target, 403]);
    }
    expect(await statusOf(url, socket, { ...upgrade(url.origin), Host: 'attacker.example' })).toBe(403);
    expect(await statusOf(url, socket, upgrade(url.origin))).toBe(101);

    const token = url.searchParams.get('token') as string;
    expect(server.stdout.split(token)).toHaveLength(2);
    expect(server.stderr).not.toContain(token);
    expect(server.stderr).toContain('A socket was refused: foreign Origin');
  }));

test('it listens on the loopback address only, and on no other', () =>
  withServer(async (_server, url) => {
    const port = Number(url.port).toString(16).toUpperCase().padStart(4, '0');
    const listening = ['tcp', 'tcp6']
      .flatMap((table) => fs.readFileSync(`/proc/net/${table}`, 'utf8').split('\n'))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => state === '0A' && local?.endsWith(`:${port}`));
    expect(listening.map(([, local]) => local)).toEqual([`0100007F:${port}`]);
  }));

test('what is no message closes the socket and ends the session', () =>
  withServer(async (_server, url) => {
    const size = { cols: 80, rows: 24 };
    const wrong: [string | object | Buffer, number][] = [
      ['{', 1008],
      ['null', 1008],
      [{ type: 'constructor' }, 1008],
      [{ type: 'start', ...size }, 1008], // a second time
      [{ type: 'resize', cols: 0, rows: 24 }, 1008],
      [{ type: 'resize', cols: 80, rows: 1e6 }, 1008],
      [{ type: 'resize', cols: '80', rows: 24 }, 1008],
      [{ type: 'resize', cols: 80.5, rows: 24 }, 1008],
      [{ type: 'drawn', bytes: -1 }, 1008],
      [{ type: 'why', access: 'read', target: 'x'.repeat(5000) }, 1008],
      [{ type: 'why', access: 'everything', target: '/' }, 1008],
      [Buffer.alloc(64 * 1024 + 1), 1009],
    ];
    for (const [message, code] of wrong) {
      const client = new BareClient(url);
      const shell = await client.start();
      expect(isRunning(shell)).toBe(true);
      client.send(message);
      expect([message, await client.closed]).toEqual([message, code]);
      await until('the shell is gone', () => !isRunning(shell));
    }
    for (const first of [Buffer.from('echo typed too early\n'), { type: 'dispose' }, { type: 'start' }, { type: 'start', cols: 1, rows: 1 }]) {
      const client = await new BareClient(url).open();
      client.send(first);
      expect(await client.closed).toBe(1008);
      expect(client.messages).toEqual([]);
    }
    const client = new BareClient(url);
    await client.start();
    client.send({ type: 'resize', ...size, rows: 30 });
    client.send(Buffer.from('stty size\n'));
    await client.until('its size', () => client.output.includes('30 80'));
    client.close();
  }));

test('a page that draws nothing makes the program wait, and loses nothing', () =>
  withServer(async (_server, url) => {
    const client = new BareClient(url);
    await client.start();
    const numbers = Array.from({ length: 400_000 }, (_, i) => `${i + 1}\n`).join('');
    client.send(Buffer.from(`stty -echo -onlcr; printf 'be%s' gin; seq 400000; printf 'en%s' d\n`));
    await client.until('the beginning', () => client.output.includes('begin'));
    // The lists come all the time: after some of them, whatever could come would have come.
    const lists = client.of('processes').length;
    await client.until('more lists', () => client.of('processes').length > lists + 2);
    expect(client.bytes).toBeGreaterThan(100_000);
    expect(client.bytes).toBeLessThan(500_000);
    let told = 0;
    await client.until('the end', () => {
      if (client.bytes > told) client.send({ type: 'drawn', bytes: client.bytes - told });
      told = client.bytes;
      return client.output.includes('end', client.output.length - 200);
    });
    const between = client.output.slice(client.output.indexOf('begin') + 'begin'.length, client.output.lastIndexOf('end'));
    expect(between === numbers).toBe(true);
    client.close();
  }));

test('input that nobody reads is limited, and the session can still be ended', () =>
  withServer(async (_server, url) => {
    const client = new BareClient(url);
    const shell = await client.start();
    client.send(Buffer.from('stty raw -echo; echo re""ady; exec sleep 1000\n'));
    await client.until('the program', () => client.output.includes('ready'));
    for (let i = 0; i < 40; i++) client.send(Buffer.alloc(60_000, 'x'));
    await client.until('the notice', () => client.of('notice').length > 0);
    expect(client.of('notice')[0].message).toContain('were dropped');
    client.send({ type: 'dispose' });
    await client.until('the report', () => client.of('report').length > 0);
    expect(client.of('report')[0].report).toMatchObject({ converged: true, survivors: [] });
    expect(isRunning(shell)).toBe(false);
    expect(await client.closed).toBe(1000);
  }));

test('there are at most eight sessions, and each that ends makes room', () =>
  withServer(async (_server, url) => {
    const clients = Array.from({ length: 8 }, () => new BareClient(url));
    for (const client of clients) await client.open();
    const target = `/session${url.search}`;
    expect(await statusOf(url, target, upgrade(url.origin))).toBe(503);
    clients[0]?.close();
    await clients[0]?.closed;
    expect(await statusOf(url, target, upgrade(url.origin))).toBe(101);
    for (const client of clients) client.close();
  }));

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} ends the server, and before that all sessions`, () =>
    withServer(async (server, url) => {
      const clients = [new BareClient(url), new BareClient(url)];
      const shells = [];
      for (const client of clients) shells.push(await client.start());
      expect(shells.map(isRunning)).toEqual([true, true]);
      expect(await server.end(signal)).toEqual({ code: 0, signal: null });
      expect(shells.map(isRunning)).toEqual([false, false]);
    }));
}

test('a server that is killed leaves no session behind', () =>
  withServer(async (server, url) => {
    const client = new BareClient(url);
    const shell = await client.start();
    expect(isRunning(shell)).toBe(true);
    expect(await server.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await until('the shell is gone', () => !isRunning(shell));
  }));

test('a session that cannot be started is said to be so, and nothing runs instead', () =>
  withServer(
    async (_server, url) => {
      const client = await new BareClient(url).open();
      client.send({ type: 'start', cols: 80, rows: 24 });
      expect(await client.closed).toBe(1011);
      expect(client.messages).toEqual([{ type: 'failed', message: expect.stringContaining('/nowhere/shell') }]);
    },
    { env: { SHELL: '/nowhere/shell' } },
  ));

test('a session that removes its own project does not disturb the server', () =>
  withServer(async (_server, url, projectDir) => {
    const client = new BareClient(url);
    await client.start();
    client.send(Buffer.from(`rm -r ${projectDir}; echo go""ne\n`));
    await client.until('the removal', () => client.output.includes('gone'));
    fs.rmSync(projectDir, { recursive: true, force: true });
    client.send({ type: 'why', access: 'read', target: '/etc/shadow' });
    await client.until('an answer', () => client.of('why').length > 0);
    expect(client.of('why')[0].text).toContain(projectDir);
    client.close();
    expect(await statusOf(url, `/${url.search}`)).toBe(200);
  }));

test('without a directory the server does not hand out the folder that it lies in', async () => {
  const server = new WebServer([], { cwd: repositoryRoot });
  try {
    const url = await server.url();
    const client = new BareClient(url);
    await client.start();
    const { projectDir } = client.of('started')[0];
    expect(path.relative(repositoryRoot, projectDir)).toMatch(/^\.\.\//);
    expect(fs.readdirSync(projectDir)).toEqual([]);
    client.send(Buffer.from('echo made > file; echo do""ne\n'));
    await client.until('the file', () => client.output.includes('done'));
    expect(fs.readdirSync(projectDir)).toEqual(['file']);
    await server.end();
    expect(fs.existsSync(projectDir)).toBe(false);
  } finally {
    await server.end();
  }
});

test('a directory that cannot be used is said before there is an address', async () => {
  const home = fs.mkdtempSync(path.join(repositoryRoot, 'build', 'home-'));
  try {
    const server = new WebServer([home], { env: { HOME: home } });
    expect((await server.ended).code).toBe(1);
    expect(server.stdout).toBe('');
    expect(server.stderr).toContain('allow_wide_project');
  } finally {
    fs.rmdirSync(home);
  }
});
