// What cannot work inside, each with its reason and, where there is one, the setting that changes it. The same list is
// in docs/compatibility.md.
import { needing, runTask, sameEverywhere, success, type Task } from './support';
import { root } from '../support';

/** Works outside, and gives this answer inside. */
async function refused(task: Task, outside: string, inside: RegExp): Promise<void> {
  expect((await runTask('outside', task)).output).toBe(outside);
  for (const where of ['terminal', 'workspace'] as const) {
    expect((await runTask(where, task)).output).toMatch(inside);
  }
}

const denied = /Permission denied/;

needing()('the home directory is neither listed nor written; single files of it are read', async () => {
  const files = { 'home/.bashrc': 'echo read\n', 'home/.secret': 'secret\n' };
  await refused({ files, script: 'ls ~' }, '', denied);
  await refused({ files, script: 'cat ~/.secret' }, 'secret\n', denied);
  await refused({ files, script: 'echo text > ~/new && echo written' }, 'written\n', denied);
  await sameEverywhere('read\n', { files, script: 'cd ~ && . ./.bashrc' });
  const sandbox = { additional_read_only_paths: ['~'] };
  expect(await runTask('terminal', { files, sandbox, script: 'cat ~/.secret' })).toEqual(success('secret\n'));
});

needing()('the root directory is not listed', async () => {
  await refused({ script: 'ls / > /dev/null && echo listed' }, 'listed\n', denied);
});

needing()('a program that the settings do not name is found, and not executed', async () => {
  const files = { 'home/bin/program': '#!/bin/sh\necho runs\n' };
  await refused({ files, script: '~/bin/program' }, 'runs\n', denied);
  // A shell takes the first that it finds in PATH, and does not go on to another one of that name.
  const shadowed = { 'home/bin/true': '#!/bin/sh\necho mine\n' };
  await refused({ files: shadowed, script: 'PATH=~/bin:$PATH; env true' }, 'mine\n', /^$/);
  await refused({ files: shadowed, script: 'PATH=~/bin:$PATH; command true; unset -f true; enable -n true; true' }, 'mine\n', denied);
  const sandbox = { additional_executable_paths: ['~/bin'] };
  expect(await runTask('terminal', { files, sandbox, script: '~/bin/program' })).toEqual(success('runs\n'));
});

needing('npm')("npm's cache in the home directory cannot be written: give it another place, or grant it", async () => {
  const files = { 'project/package.json': '{"name": "library", "version": "1.2.3"}', 'home/.npm/.keep': '' };
  const script = 'npm pack --silent --offline 2>&1; echo "exit $?"';
  await refused({ files, script }, 'library-1.2.3.tgz\nexit 0\n', /exit [1-9]/);
  const sandbox = { additional_read_write_paths: ['~/.npm'] };
  for (const where of ['terminal', 'workspace'] as const) {
    expect(await runTask(where, { files, sandbox, script })).toEqual(success('library-1.2.3.tgz\nexit 0\n'));
  }
});

needing('python3')('tmpfile(3) wants /tmp, whatever TMPDIR says: with a private directory it fails', async () => {
  const script = `python3 -c 'import ctypes; c = ctypes.CDLL(None); c.tmpfile.restype = ctypes.c_void_p; print(bool(c.tmpfile()))'`;
  await sameEverywhere('True\n', { script }, ['terminal']);
  expect(await runTask('workspace', { script })).toEqual(success('False\n'));
  expect(await runTask('workspace', { script, sandbox: { additional_read_write_paths: ['/tmp'] } })).toEqual(success('True\n'));
});

needing('unshare')('user namespaces cannot be mapped: /proc is read-only', async () => {
  const script = 'unshare --user --map-root-user id -u 2>&1';
  expect((await runTask('terminal', { script })).output).toMatch(/uid_map: Permission denied/);
});

needing('mount').needing(root)('nothing can be mounted, not even by root', async () => {
  const script = 'mkdir there; mount -t tmpfs none there 2>&1 && umount there && echo mounted';
  await refused({ script }, 'mounted\n', /permission denied/);
});

needing('su').needing(root)('nobody becomes another user: no capabilities, and no_new_privs', async () => {
  const script = 'su nobody -s /bin/sh -c "id -un" 2>&1';
  await refused({ script }, 'nobody\n', /cannot set groups/);
});

needing()('processes outside can be seen, and not signalled', async () => {
  const script = `kill -0 ${process.pid} 2>&1 && echo reached`;
  await refused({ script }, 'reached\n', /Operation not permitted/);
});

needing('python3')('UNIX datagram sockets (syslog) cannot be made', async () => {
  const script = `python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); print("made")' 2>&1 | tail -n 1`;
  await refused({ script }, 'made\n', /PermissionError/);
});

needing('ss')('ss asks the kernel for sockets and is refused; it falls back to /proc', async () => {
  const script = 'ss -ltH > list 2> errors; grep -c "netlink" errors';
  await refused({ script }, '0\n', /^[1-9]/);
});

needing()('/proc cannot be written', async () => {
  await refused({ script: 'echo 500 > /proc/self/oom_score_adj && echo written' }, 'written\n', denied);
});

needing('chmod')('what is not promised: modes and times of files outside the project can be changed', async () => {
  const files = { 'home/file': 'secret\n' };
  await sameEverywhere('600\n', { files, script: 'chmod 600 ~/file && stat -c %a ~/file' });
});

