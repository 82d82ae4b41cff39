// Programs that get something else than the terminal as their input and output.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { confined, linux, load, ours, refusal, temporaryDirectory, thrownBy, track } from './support';

const redirected = ours.needing(linux);

/** Opened for the time of a call. */
async function withFile<T>(flags: string, body: (fd: number, file: string) => Promise<T>, text = ''): Promise<T> {
  const file = path.join(temporaryDirectory(), 'file');
  fs.writeFileSync(file, text);
  const fd = fs.openSync(file, flags);
  try {
    return await body(fd, file);
  } finally {
    fs.closeSync(fd);
  }
}

redirected('a program reads one file and writes another, and has its terminal besides', async () => {
  await withFile('r', (input) =>
    withFile('w', async (output, file) => {
      const options = { file: '/bin/sh', args: ['-c', 'tr a-z A-Z; test -t 0 || test -t 1 || echo terminal >&2'], stdio: [input, output, null] };
      const session = track(load().createSandboxedPty(options));
      expect(await session.exit()).toMatchObject({ exitCode: 0 });
      expect(session.output).toBe('terminal\r\n');
      expect(fs.readFileSync(file, 'utf8')).toBe('TEXT\n');
    }), 'text\n');
});

redirected('a file that was lent is no way around the policy: it cannot be opened again with more rights', async () => {
  const attempt = 'cat; (echo more >> /proc/self/fd/0) 2> /dev/null && echo written || echo refused';
  for (const [profile, verdict] of [['workspace', 'refused'], ['off', 'written']]) {
    await withFile('r', async (input, file) => {
      const session = confined(attempt, { profile }, { stdio: [input, null, null] });
      await session.exit();
      expect(session.output).toBe(`text\r\n${verdict}\r\n`);
      expect(fs.readFileSync(file, 'utf8')).toBe(verdict === 'written' ? 'text\nmore\n' : 'text\n');
    }, 'text\n');
  }
});

redirected('what is not fit for it is refused before anything starts', async () => {
  const start = (stdio: unknown) => () => load().createSandboxedPty({ file: '/bin/true', stdio });
  for (const nonsense of [[0, 1], 'pipe', [0.5, null, null], [-1, null, null], ['pipe', null, null]]) {
    expect(refusal(start(nonsense))).toBeInstanceOf(TypeError);
  }
  const directory = fs.openSync('/', 'r');
  expect(thrownBy(start([directory, null, null]))).toMatchObject({ name: 'SandboxError', code: 'EINVAL', stage: 'stdio' });
  fs.closeSync(directory);
  const terminal = load().open();
  expect(thrownBy(start([terminal.slave.fd ?? terminal.slave._handle.fd, null, null])).message).toContain('a terminal cannot take');
  terminal.slave.destroy();
  terminal.master.destroy();
});
