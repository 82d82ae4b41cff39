// What a runner of agents does with commands, good and bad: node examples/agent-runner/demo.mjs
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {runCommand} from './run-command.mjs';

const root = mkdtempSync(join(tmpdir(), 'agent-runner-'));
const [projectDir, outside] = ['project', 'outside'].map((name) => join(root, name));
for (const dir of [projectDir, outside]) mkdirSync(dir);
writeFileSync(join(outside, 'secret.txt'), 'a secret\n');

async function show(title, command, options = {}) {
  const result = await runCommand(command, {projectDir, ...options});
  const how = result.timedOut ? 'ended after its time' : `exit code ${result.exitCode}`;
  const proof = result.ended.converged
    ? 'nobody is left'
    : `not proven that nobody is left: ${result.ended.problem ?? ''}`;
  console.log(`\n# ${title}\n$ ${command}\n${result.output.trimEnd()}\n-> ${how}; ${proof}`);
  if (result.missing.length > 0) console.log(`   NOT enforced: ${result.missing.join(', ')}`);
}

try {
  console.log(
    `outside of the sandbox the secret can be read: ${readFileSync(join(outside, 'secret.txt'), 'utf8').trim()}`,
  );
  await show('work in the project', 'echo hello > result.txt && cat result.txt');
  await show('read something else', `cat ${outside}/secret.txt`);
  await show('write something else', `echo x > ${outside}/made.txt`);
  await show('the same, after a person approved it', `echo x > ${outside}/made.txt && echo written`, {
    permissions: {write_paths: [outside]},
  });
  await show('use the network', `bash -c 'exec 3<>/dev/tcp/127.0.0.1/9'`);
  await show('see what is in the environment', 'env | sort');
  await show('leave something running', '(setsid sleep 1000 &) ; echo started');
  await show('never end', 'trap "" TERM HUP; while :; do sleep 1; done', {timeoutMs: 1000});
} finally {
  rmSync(root, {recursive: true});
}
