import { existsSync } from 'node:fs';
import { better, contract, host, linux, root, run, type HostEnd, type Need } from './support';

const someone = { uid: 4242, gid: 4343 };

contract.needing(linux, root)('with uid and gid the child runs as that user and group', async () => {
  const { output } = await run('sh', ['-c', 'id -u; id -g; grep -E "^(Uid|Gid)" /proc/$$/status'], { ...someone, cwd: '/' });
  expect(output.replace(/\s+/g, ' ')).toBe('4242 4343 Uid: 4242 4242 4242 4242 Gid: 4343 4343 4343 4343 ');
});

contract.needing(root)('such a child owns a terminal that it can use and reopen', async () => {
  const { output, exit } = await run('sh', ['-c', 'echo reopened > /dev/tty; stty size'], { ...someone, cwd: '/' });
  expect({ output, exit }).toEqual({ output: 'reopened\r\n24 80\r\n', exit: { exitCode: 0, signal: 0 } });
});

contract.needing(root)('one of uid and gid alone changes nothing', async () => {
  expect((await run('id', ['-u'], { uid: 4242 })).output).toBe('0\r\n');
  expect((await run('id', ['-g'], { gid: 4343 })).output).toBe('0\r\n');
});

contract('the own uid and gid are always allowed', async () => {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  const { output, exit } = await run('sh', ['-c', 'id -u; id -g'], { uid, gid });
  expect({ output, exit }).toEqual({ output: `${uid}\r\n${gid}\r\n`, exit: { exitCode: 0, signal: 0 } });
});

better.needing(linux, root)('with uid and gid the supplementary groups of the host are given up', async () => {
  const end = await host(
    (pty, _kernel, who) => {
      (process as any).setgroups([7777, 8888]);
      return new Promise((resolve) => {
        let output = '';
        const child = pty.spawn('sh', ['-c', 'grep ^Groups /proc/$$/status'], { ...who, cwd: '/' });
        child.onData((data) => (output += data));
        child.onExit(() => resolve(output));
      });
    },
    { arg: someone },
  );
  expect(end.code).toBe(0);
  expect(end.result).toContain('Groups:');
  expect(end.result).not.toMatch(/7777|8888/);
});

const setpriv: Need = { met: existsSync('/usr/bin/setpriv'), reason: 'needs setpriv(1)' };

/** A host that is not root, is in a group of its own, and has these capabilities, and one to read this package wherever it is. */
const hostWith = (capabilities: string[], who: object): Promise<HostEnd> => {
  const given = ['dac_read_search', ...capabilities].map((name) => `+${name}`).join(',');
  const rights = [`--inh-caps=-all,${given}`, `--ambient-caps=-all,${given}`];
  return host(
    (pty, _kernel, options) =>
      new Promise((resolve) => {
        let output = '';
        const child = pty.spawn('sh', ['-c', 'id -u; id -g; grep ^Groups /proc/$$/status'], { ...options, cwd: '/' });
        child.onData((data) => (output += data));
        child.onExit(() => resolve(output.replace(/\s+/g, ' ')));
      }),
    { arg: who, cwd: '/', through: ['/usr/bin/setpriv', '--reuid=4141', '--regid=4141', '--groups=7777', ...rights] },
  );
};

better.needing(linux, root, setpriv)('also by a host that is not root, but may change its user and group', async () => {
  expect((await hostWith(['setuid', 'setgid'], someone)).result).toBe('4242 4343 Groups: 4343 ');
});

better.needing(linux, root, setpriv)('a host that may not give them up cannot start a session of another user', async () => {
  const end = await hostWith(['setuid'], { uid: 4242, gid: 4141 });
  expect(end.result).toBe('setgroups(2) failed.: Operation not permitted ');
});

contract.needing(linux, root, setpriv)('a host that is not root keeps its groups in a session of its own', async () => {
  expect((await hostWith([], { uid: 4141, gid: 4141 })).result).toBe('4141 4141 Groups: 7777 ');
});

contract.needing(linux, root)('without uid and gid the groups of the host are kept', async () => {
  const end = await host((pty) => {
    (process as any).setgroups([7777]);
    return new Promise((resolve) => {
      let output = '';
      const child = pty.spawn('sh', ['-c', 'grep ^Groups /proc/$$/status'], {});
      child.onData((data) => (output += data));
      child.onExit(() => resolve(output));
    });
  });
  expect(end.result).toMatch(/7777/);
});
