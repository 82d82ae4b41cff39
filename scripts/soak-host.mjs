// A host for soak-host-death.mjs: starts sessions of every kind until it is killed.
//   node scripts/soak-host.mjs <how many> <lingerer> <token> <project directory>
import {loadLibrary} from './lib/library.mjs';

const [count, program, token, projectDir] = process.argv.slice(2);
const library = loadLibrary();
const sandbox = {enabled: true, profile: 'workspace', additional_executable_paths: [program]};
const ways = ['setsid', 'double-fork', 'clone-parent', 'slave', 'vfork'];
process.stdout.write('loaded\n');
for (let i = 0; i < Number(count); i += 1) {
  const pty = library.createSandboxedPty({
    file: program, args: [ways[i % ways.length], token], cwd: projectDir, ...(i % 2 === 0 && {projectDir, sandbox}),
  });
  pty.onData(() => {});
  await new Promise((resolve) => setImmediate(resolve));
}
process.stdout.write('all started\n');
