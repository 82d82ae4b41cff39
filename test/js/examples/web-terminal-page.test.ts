// The page in a real browser, as a person uses it.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { confined, isRunning, ours, repositoryRoot, temporaryDirectory, until } from '../support';
import { browser, dependencies, launchBrowser, withServer, type Browser, type Page, type ServerOptions, type WebServer } from './support';

const test = ours.needing(dependencies, browser);

let chromium: Browser;

beforeAll(async () => {
  if (dependencies.met && browser.met) chromium = await launchBrowser();
});

afterAll(() => chromium?.close());

interface Visit {
  page: Page;
  server: WebServer;
  projectDir: string;
}

const shown = (page: Page, text: string | RegExp): Promise<void> => page.locator('.xterm-rows', { hasText: text }).waitFor();

/** Types a line into the terminal, key by key. */
const type = (page: Page, line: string): Promise<void> => page.keyboard.type(`${line}\n`);

const processRow = (page: Page, command: string): any => page.locator('#processes tr', { hasText: command });

const pidsOf = (page: Page): Promise<number[]> =>
  page.locator('#processes tr').evaluateAll((rows: any[]) => rows.map((row) => Number(row.dataset.pid)));

/** Opens the page, and fails if anything was reported on its console: what its policy forbids, for example. */
function visit(body: (visit: Visit) => Promise<void>, options: ServerOptions = {}): Promise<void> {
  return withServer(async (server, url, projectDir) => {
    const page = await chromium.newPage({ viewport: { width: 1280, height: 800 } });
    const complaints: string[] = [];
    page.on('console', (message: any) => complaints.push(message.text()));
    page.on('pageerror', (error: Error) => complaints.push(error.message));
    try {
      await page.goto(url.href);
      await page.getByText('running', { exact: true }).waitFor();
      await body({ page, server, projectDir });
      expect(complaints).toEqual([]);
    } finally {
      await page.close();
    }
  }, options);
}

test('what is typed is run, and its output is shown', () =>
  visit(async ({ page, projectDir }) => {
    await type(page, 'echo he""llo > made; cat made; pwd -P');
    await shown(page, /hello/);
    await shown(page, projectDir);
    expect(fs.readFileSync(path.join(projectDir, 'made'), 'utf8')).toBe('hello\n');
  }));

test('the token is not in the address bar', () =>
  visit(async ({ page }) => {
    const address = new URL(page.url());
    expect(address.pathname + address.search + address.hash).toBe('/');
  }));

test('the program sees the size of the page, also after it has changed', () =>
  visit(async ({ page }) => {
    const sizeOf = async (): Promise<string> => (await page.locator('#size').innerText()).split(' × ').reverse().join(' ');
    const before = await sizeOf();
    await type(page, 'stty size');
    await shown(page, before);
    const text = await page.locator('#size').innerText();
    await page.setViewportSize({ width: 1100, height: 700 });
    await page.locator('#size', { hasNotText: text }).waitFor();
    await type(page, 'clear; stty size');
    const after = await sizeOf();
    expect(after).not.toBe(before);
    await shown(page, after);
  }));

test('Ctrl-C ends the program in the foreground, and the shell goes on', () =>
  visit(async ({ page }) => {
    await type(page, 'sleep 100');
    await processRow(page, 'sleep 100').waitFor();
    await page.keyboard.press('Control+c');
    await type(page, 'echo status-$?');
    await shown(page, /status-130/);
    await processRow(page, 'sleep 100').waitFor({ state: 'detached' });
  }));

test('a secret beside the project cannot be read, and the page can say why', () => {
  const secret = path.join(temporaryDirectory(), 'secret.txt');
  fs.writeFileSync(secret, 'the secret itself\n');
  return visit(async ({ page }) => {
    await type(page, `cat ${secret}; echo status-$?`);
    await shown(page, /Permission denied/);
    await shown(page, /status-1/);
    expect(await page.locator('.xterm-rows').innerText()).not.toContain('the secret itself');
    expect(execFileSync('cat', [secret], { encoding: 'utf8' })).toBe('the secret itself\n');

    expect(await page.getByLabel('Path, host or socket').inputValue()).toBe(secret);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#explanation', { hasText: `read "${secret}": denied.` }).waitFor();
  });
});

test('refusals are found in the usual words, and quickly in any others', () =>
  visit(async ({ page }) => {
    const find = (texts: string[]): Promise<unknown[]> =>
      page.evaluate(
        async ([module, ...all]: string[]) => {
          const { lastRefusal } = await import(module as string);
          return all.map((text) => lastRefusal(text) ?? null);
        },
        ['/refusals.mjs', ...texts],
      );
    expect(
      await find([
        'cat: /etc/shadow: Permission denied\r\n',
        "ls: cannot open directory '/root': Permission denied\r\n$ ",
        "touch: cannot touch '/usr/x': Permission denied\n",
        'sh: 1: cannot create /usr/x: Permission denied\n',
        'cat: /etc/shadow: No such file or directory\n',
        'cat: /first: Permission denied\ncat: /second: Permission denied\nmore\n',
        `${'/'.repeat(4000)}\n`,
        `${"cannot touch '".repeat(300)}: Permission denied\n`,
      ]),
    ).toEqual([
      { access: 'read', target: '/etc/shadow' },
      { access: 'read', target: '/root' },
      { access: 'write', target: '/usr/x' },
      { access: 'write', target: '/usr/x' },
      null,
      { access: 'read', target: '/second' },
      null,
      null,
    ]);
  }));

test('the padlock shows what enforces each protection', () => {
  const { protections } = confined('true', { profile: 'workspace' }).pty.sandbox;
  const missing = protections.filter((each) => each.missing).length;
  return visit(async ({ page }) => {
    expect(await page.locator('#padlock h2').innerText()).toBe(missing === 0 ? 'Confined' : `Confined, but for ${missing}`);
    const rows = await page
      .locator('#protections li')
      .evaluateAll((all: any[]) => all.map((row) => [row.dataset.name, row.dataset.state, row.querySelector('.how').textContent]));
    const expected = protections.map(({ name, wanted, enforcedBy, missing: lacks }) =>
      lacks ? [name, 'bad', 'NOT enforced'] : wanted ? [name, 'good', enforcedBy] : [name, 'off', 'not asked for'],
    );
    expect(rows).toEqual(expected);
    expect(rows).toContainEqual(['files', 'good', 'landlock']);
  });
});

test('the button ends every process, also one that wants to stay, and shows the report', () =>
  visit(async ({ page }) => {
    await type(page, `(trap '' HUP INT TERM; exec setsid sleep 1001) & sleep 1002 &`);
    await processRow(page, 'sleep 1001').waitFor();
    await processRow(page, 'sleep 1002').waitFor();
    const pids = await pidsOf(page);
    expect(pids.length).toBeGreaterThanOrEqual(3);
    expect(pids.filter(isRunning)).toEqual(pids);
    await page.getByRole('button', { name: 'End them all' }).click();
    await page.locator('#report', { hasText: 'Nothing is left. Proven.' }).waitFor();
    expect(pids.filter(isRunning)).toEqual([]);
    expect(await pidsOf(page)).toEqual([]);

    await page.getByRole('button', { name: 'New session' }).click();
    await page.getByText('running', { exact: true }).waitFor();
    await type(page, 'echo ag""ain');
    await shown(page, /again/);
  }));

test('the end of the shell is shown with what it left running', () =>
  visit(async ({ page }) => {
    await type(page, 'setsid sleep 1003 &');
    await processRow(page, 'sleep 1003').waitFor();
    const pids = await pidsOf(page);
    await type(page, 'exit 7');
    await page.getByText('ended, exit code 7').waitFor();
    await page.locator('#report', { hasText: 'Nothing is left. Proven.' }).waitFor();
    expect(pids.filter(isRunning)).toEqual([]);
  }));

test('closing the page ends its session', () =>
  visit(async ({ page }) => {
    await type(page, 'setsid sleep 1004 &');
    await processRow(page, 'sleep 1004').waitFor();
    const pids = await pidsOf(page);
    expect(pids.filter(isRunning)).toEqual(pids);
    await page.close();
    await until('the session is gone', () => pids.every((pid) => !isRunning(pid)));
  }));

test('a page of another site opens no socket', () =>
  withServer(async (server, url) => {
    await withServer(async (_other, otherUrl) => {
      const page = await chromium.newPage();
      try {
        // The other server's page stands for any site. Its own policy would forbid it already, so that is switched off.
        const context = await chromium.newContext({ bypassCSP: true });
        const stranger = await context.newPage();
        const opens = (from: any, address: string): Promise<string> =>
          from.evaluate(
            (target: string) =>
              new Promise((resolve) => {
                const socket = new (globalThis as any).WebSocket(target);
                socket.onopen = () => resolve('opened');
                socket.onerror = () => resolve('refused');
              }),
            address,
          );
        const socket = `ws://${url.host}/session${url.search}`;
        await stranger.goto(otherUrl.href);
        expect(await opens(stranger, socket)).toBe('refused');
        expect(server.stderr).toContain('foreign Origin');
        await page.goto(url.href);
        expect(await opens(page, socket)).toBe('opened');
        await context.close();
      } finally {
        await page.close();
      }
    });
  }));

// On request: what the README shows.
if (process.env['SPTY_SCREENSHOTS']) {
  test('screenshots', () => {
    const home = temporaryDirectory();
    fs.writeFileSync(path.join(home, '.bashrc'), `PS1='\\[\\e[1;34m\\]\\W\\[\\e[0m\\] > '\n`);
    const projectDir = path.join(temporaryDirectory(), 'app');
    fs.mkdirSync(projectDir);
    fs.writeFileSync(path.join(projectDir, 'index.js'), `console.log('hello');\n`);
    const take = (page: Page, name: string): Promise<unknown> => page.screenshot({ path: path.join(repositoryRoot, 'docs', name) });
    return visit(
      async ({ page }) => {
        await shown(page, /app >/);
        // Each with the end of what it prints: no line is typed into a program that still runs.
        for (const [line, end] of [
          ['echo "the project is writable" > notes.txt; ls', /index.js +notes.txt *app >/],
          ['cat /etc/shadow', /shadow: Permission denied *app >/],
          ['echo x > /usr/local/bin/ls', /bin.ls: Permission denied *app >/],
          ['exec 3<>/dev/tcp/192.0.2.1/443', /443: Permission denied *app >/],
          ['setsid --fork sleep 1000', /sleep 1000 *app >/],
          ['sleep 2000 &', /\[1\] \d+ *app >/],
        ] as const) {
          await type(page, line);
          await shown(page, end);
        }
        await processRow(page, 'sleep 2000').waitFor();
        await page.getByLabel('Path, host or socket').fill('/etc/shadow');
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.locator('#explanation', { hasText: 'denied' }).waitFor();
        await take(page, 'web-terminal.png');
        await page.getByRole('button', { name: 'End them all' }).click();
        await page.locator('#report', { hasText: 'Proven' }).waitFor();
        await take(page, 'web-terminal-ended.png');
      },
      { projectDir, env: { HOME: home, SHELL: '/bin/bash' } },
    );
  });
}
