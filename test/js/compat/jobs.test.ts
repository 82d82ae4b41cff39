// Job control and signals in an interactive shell: what a user does with the keyboard.
import { needing, Place, type Where } from './support';
import { children, openFds, stat, status, until, type Session } from '../support';

const everywhere: Where[] = ['outside', 'terminal', 'workspace'];
const interrupt = '\x03';
const suspend = '\x1a';

/** A prompt that no command prints by accident. */
const prompt = '@PS@';

/** Blocks the signal first: a trap of a shell could run before the shell waits, and it would then wait for ever. */
const waitForResize = `
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
print("waiting", flush=True)
signal.sigwait({signal.SIGWINCH})
size = os.get_terminal_size()
print(size.lines, size.columns)
`;

interface Dialect {
  name: string;
  args: string[];
  /** What is in the home directory: the prompt, and no editing of lines that would be in the output. */
  files: Readonly<Record<string, string>>;
  stopped: RegExp;
  listed: RegExp;
  running: RegExp;
}

const bash: Dialect = {
  name: 'bash',
  args: ['-i'],
  files: { 'home/.bashrc': `PS1='@''PS''@'; PS2=''; bind 'set enable-bracketed-paste off'\n` },
  stopped: /\[1\]\+\s+Stopped/,
  listed: /^\[1\]\+\s+Stopped/,
  running: /^\[1\]\+\s+Running/,
};

const dialects: Dialect[] = [
  bash,
  {
    name: 'zsh',
    args: ['-i'],
    files: { 'home/.zshrc': `PS1='@''PS''@'; unsetopt zle prompt_cr prompt_sp\n` },
    stopped: /zsh: suspended/,
    listed: /^\[1\]\s+\+ suspended/,
    running: /^\[1\]\s+\+ running/,
  },
  {
    name: 'dash',
    args: ['-l', '-i'],
    files: { 'home/.profile': `PS1='@''PS''@'; PS2=''\n` },
    stopped: /\[1\] \+ Stopped/,
    listed: /^\[1\] \+ Stopped/,
    running: /^\[1\] \+ Running/,
  },
];

class Shell {
  private prompts = 0;

  private constructor(readonly session: Session) {}

  static async start(where: Where, files: Record<string, string> = {}, { name, args, files: own } = bash): Promise<Shell> {
    const place = new Place({ ...files, ...own });
    const shell = new Shell(place.start(where, name, args));
    await shell.prompted();
    return shell;
  }

  /** Waits for the next prompt and gives what came before it. */
  async prompted(): Promise<string> {
    this.prompts += 1;
    const text = await this.session.printed(prompt, this.prompts);
    return text.slice(0, -prompt.length).split(prompt).pop() ?? '';
  }

  /** Types a command; gives its output, without the echo of the command itself. */
  async run(command: string): Promise<string> {
    this.session.pty.write(`${command}\r`);
    return this.withoutEcho(await this.prompted());
  }

  /** Types a command that goes on; resolves when it has printed the text. */
  async begin(command: string, text: string): Promise<void> {
    this.session.pty.write(`${command}\r`);
    await this.session.printed(text);
  }

  async press(key: string): Promise<string> {
    this.session.pty.write(key);
    return this.prompted();
  }

  private withoutEcho(text: string): string {
    return text.slice(text.indexOf('\r\n') + 2).replaceAll('\r\n', '\n');
  }
}

for (const where of everywhere) {
  describe(where, () => {
    needing()('Ctrl-C ends the foreground job, not the shell', async () => {
      const shell = await Shell.start(where);
      await shell.begin(`sh -c 'echo run''ning; exec sleep 1000'`, 'running');
      await shell.press(interrupt);
      expect(await shell.run('echo $?')).toBe('130\n');
    });

    for (const dialect of dialects) {
      needing(dialect.name)(`${dialect.name}: Ctrl-Z stops a job, bg and fg continue it, kill %1 ends it`, async () => {
        const shell = await Shell.start(where, {}, dialect);
        const { pid } = shell.session.pty;
        await shell.begin(`sh -c 'echo run''ning; exec sleep 1000'`, 'running');
        const [job] = children(pid) as [number];
        expect(await shell.press(suspend)).toMatch(dialect.stopped);
        expect(stat(job).state).toBe('T');
        expect(await shell.run('jobs')).toMatch(dialect.listed);
        expect(await shell.run('bg')).toMatch(/^\[1\]/);
        expect(await shell.run('jobs')).toMatch(dialect.running);
        expect(stat(job).state).not.toBe('T');
        shell.session.pty.write('fg\r');
        // A shell prints the command before it hands the terminal over, and may send SIGCONT after that.
        await until('the job is in the foreground', () => stat(pid).foreground === stat(job).pgrp && stat(pid).state === 'S');
        expect(await shell.press(suspend)).toMatch(dialect.stopped);
        await shell.run('kill %1; fg > /dev/null 2>&1');
        expect(await shell.run('jobs')).toBe('');
        expect(children(pid)).toEqual([]);
      });
    }

    needing('stty', 'python3')('a resize is known at once: SIGWINCH, and the size from stty', async () => {
      const shell = await Shell.start(where, { 'project/wait.py': waitForResize });
      await shell.begin('python3 wait.py', 'waiting');
      shell.session.pty.resize(101, 37);
      expect((await shell.prompted()).trim().split('\r\n').pop()).toBe('37 101');
      expect(await shell.run('stty size')).toBe('37 101\n');
    });

    needing()('a background job that reads the terminal is stopped', async () => {
      const shell = await Shell.start(where);
      await shell.run('cat /dev/tty &');
      expect(await shell.run('until jobs -s %1 | grep -q Stopped; do :; done; echo stopped')).toContain('stopped\n');
      await shell.run('kill -KILL %1');
    });

    needing('stty')('a raw terminal can be set and reset', async () => {
      const shell = await Shell.start(where);
      expect(await shell.run('saved=$(stty -g); stty raw -echo; stty "$saved" && echo reset')).toBe('reset\n');
      expect(await shell.run('stty -a < /dev/tty | grep -o " icanon"')).toBe(' icanon\n');
    });

    needing()('a hangup ends the shell and its jobs', async () => {
      const shell = await Shell.start(where);
      await shell.begin(`sh -c 'echo run''ning; exec sleep 1000'`, 'running');
      shell.session.pty.destroy();
      await shell.session.exit();
    });

    needing()('signals are at their defaults, and the shell leads its own session', async () => {
      const shell = await Shell.start(where);
      const { pid } = shell.session.pty;
      expect(await shell.run('echo $$')).toBe(`${pid}\n`);
      expect(await shell.run('cut -d" " -f6 /proc/$$/stat')).toBe(`${pid}\n`);
      expect(await shell.run('sh -c \'grep SigIgn /proc/$$/status\' | cut -f2')).toBe('0000000000000000\n');
      expect(status(pid, 'NoNewPrivs')).toBe(where === 'outside' ? '0' : '1');
    });

    needing()('nothing but the terminal is open in the shell', async () => {
      const place = new Place();
      const session = place.start(where, '/bin/sh', ['-c', 'echo ready; read line']);
      await session.printed('ready');
      expect(openFds(session.pty.pid)).toEqual([0, 1, 2]);
    });
  });
}
