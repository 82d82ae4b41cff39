// Hosts side by side: each tidies up when it comes, and what it starts ends with it, and none of that is anybody else's.
import { linux, ours, startHost, temporaryDirectory, until, type Body, type Host } from '../support';
import { bearers, endBearers, leafPathsOf, lingerer, newToken, tempsOf, writableCgroup } from './support';

const sandboxed = ours.needing(linux);

/** One session that is confined and one that is not; ends when it is told to. */
const inhabited: Body = async (pty, _kernel, { program, token, projectDir }) => {
  const sandbox = { enabled: true, profile: 'workspace', additional_executable_paths: [program] };
  for (const confinement of [{}, { projectDir, sandbox }]) {
    const child = pty.createSandboxedPty({ file: program, args: ['double-fork', token], cwd: projectDir, ...confinement });
    await new Promise<void>((resolve) => child.onData((data: string) => data.includes('ready') && resolve()));
  }
  // The sweep of directories is done from the event loop, in turns.
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  process.stdout.write('all ready\n');
  process.stdin.resume().once('data', () => process.exit(0));
};

class Neighbour {
  readonly token = newToken();
  readonly host: Host;

  constructor(private readonly temp: string) {
    const env = { ...process.env, TMPDIR: temp };
    this.host = startHost(inhabited, { env, arg: { token: this.token, program: lingerer(), projectDir: temporaryDirectory() } });
  }

  /** Everything that it has on this machine. */
  holdings(): { processes: string[]; leaves: string[]; temps: string[] } {
    const { pid } = this.host;
    return { processes: bearers(this.token).sort(), leaves: leafPathsOf(pid), temps: tempsOf(pid, this.temp) };
  }

  async isGone(): Promise<void> {
    await until('nothing of it is left', () => Object.values(this.holdings()).every((held) => held.length === 0));
  }
}

sandboxed('one that comes, and one that goes, disturb nobody', async () => {
  const temp = temporaryDirectory();
  const first = new Neighbour(temp);
  const others: Neighbour[] = [];
  try {
    await first.host.printed('all ready');
    const before = first.holdings();
    expect(before.temps).toHaveLength(1);
    expect(before.processes.length).toBeGreaterThan(2);
    if (writableCgroup.met) expect(before.leaves).toHaveLength(2);
    for (const end of ['SIGKILL', 'exit']) {
      const second = new Neighbour(temp);
      others.push(second);
      await second.host.printed('all ready');
      expect(first.holdings()).toEqual(before);
      if (end === 'exit') second.host.say('end');
      else second.host.kill('SIGKILL');
      await second.host.end();
      await second.isGone();
      expect(first.holdings()).toEqual(before);
    }
    first.host.say('end');
    expect((await first.host.end()).code).toBe(0);
    await first.isGone();
  } finally {
    for (const { token } of [first, ...others]) endBearers(token);
  }
});
