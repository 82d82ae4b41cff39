// A shell that ends by itself takes with it what it has left running, unless it was asked not to.
import { linux, ours, until } from '../support';
import { bearers, endAllBearers, kinds, leavesOf, lingerer, newLeash, newToken, startKind } from './support';

const sandboxed = ours.needing(linux);

const text = '"$0" "$1" "$2" "$3" & read line; exit 5';

describe.each(['setsid', 'double-fork', 'clone-parent', 'ignore', 'stopped', 'slave', 'bomb'])('%s', (way) => {
  for (const kind of kinds) {
    sandboxed(`ends with the shell, ${kind.name}`, async () => {
      const token = newToken();
      const leash = newLeash();
      const settings = { additional_executable_paths: [lingerer()] };
      const session = startKind(kind, '/bin/sh', ['-c', text, lingerer(), way, token, leash], { settings });
      await session.printed('ready');
      expect(bearers(token).length).toBeGreaterThan(2);
      try {
        session.pty.write('\r');
        expect(await session.exit()).toEqual({ exitCode: 5, signal: 0 });
        await until('nobody is left', () => bearers(token).length === 0);
        await until('no cgroup is left', () => leavesOf(process.pid).length === 0);
      } finally {
        await endAllBearers(token, leash);
      }
    });
  }
});
