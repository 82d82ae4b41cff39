import { better, contract, host, linux, root, run } from './support';

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
