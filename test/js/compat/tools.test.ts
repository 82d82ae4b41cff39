// Everyday programs do the same inside a sandbox as outside.
import { needing, oneMount, sameEverywhere } from './support';

needing('find')('find walks a tree', async () => {
  const files = { 'project/a/one.txt': '1', 'project/a/b/two.txt': '2', 'project/c/three.md': '3' };
  await sameEverywhere('./a/b/two.txt\n./a/one.txt\n', { files, script: 'find . -name "*.txt" -type f | sort' });
});

needing('tar', 'gzip')('tar packs and unpacks, with times and modes', async () => {
  const script = `
    mkdir in && echo text > in/file && ln -s file in/link && chmod 640 in/file && touch -d 2001-02-03 in/file
    tar -czf all.tgz in && mkdir out && tar -xzf all.tgz -C out && cat out/in/link
    stat -c '%a %y' out/in/file | cut -c1-14`;
  await sameEverywhere('text\n640 2001-02-03\n', { script });
});

needing('rsync')('rsync copies a tree, and only what changed', async () => {
  const script = `
    mkdir -p from/sub && echo 1 > from/one && echo 2 > from/sub/two
    rsync -a from/ to && echo 3 > from/sub/three && rsync -ai from/ to | grep '^>'
    find to -type f | sort`;
  await sameEverywhere('>f+++++++++ sub/three\nto/one\nto/sub/three\nto/sub/two\n', { script });
});

needing('sqlite3')('sqlite3 writes a database with a write-ahead log in shared memory', async () => {
  const script = `
    sqlite3 data.db 'PRAGMA journal_mode=WAL; CREATE TABLE t(n); INSERT INTO t VALUES (1),(2),(39);'
    sqlite3 data.db 'SELECT sum(n) FROM t;'`;
  await sameEverywhere('wal\n42\n', { script });
});

needing('ps')('ps shows the shell that runs it', async () => {
  await sameEverywhere('bash\nfound\n', {
    script: 'ps -o comm= -p $$; ps -ef | grep -q "[p]s -ef" && echo found',
  });
});

needing('top')('top shows one picture', async () => {
  await sameEverywhere('Tasks\n', { script: 'top -b -n1 | grep -o ^Tasks' });
});

needing()('process substitution, in both directions', async () => {
  await sameEverywhere('one two\nUP\n', {
    script: 'paste -d" " <(echo one) <(echo two); echo up | tee >(tr a-z A-Z > file) > /dev/null; until [ -s file ]; do :; done; cat file',
  });
});

needing()('/dev/stdout, /dev/stderr, /dev/fd and /dev/tty', async () => {
  const script = `
    echo to-stdout > /dev/stdout; echo to-stderr > /dev/stderr; echo to-tty > /dev/tty
    echo piped | cat /dev/stdin; echo to-fd > /dev/fd/1; cat < /dev/null; head -c 4 /dev/zero | od -An -tx1
    head -c 8 /dev/urandom | wc -c; echo lost > /dev/full || echo full`;
  const output = `to-stdout\nto-stderr\nto-tty\npiped\nto-fd\n 00 00 00 00\n8\n/bin/bash: line 4: echo: write error: No space left on device\nfull\n`;
  await sameEverywhere(output, { script });
});

needing()('mktemp makes files and directories', async () => {
  const script = `
    file=$(mktemp) && echo text > "$file" && cat "$file" && rm "$file"
    directory=$(mktemp -d) && mkdir "$directory/sub" && rmdir "$directory/sub" "$directory" && echo removed`;
  await sameEverywhere('text\nremoved\n', { script });
});

needing('python3')('files move and are linked from one directory to another, without a copy', async () => {
  const script = `
    mkdir one two && echo text > one/file && ln one/file two/linked && python3 -c 'import os; os.rename("one/file", "two/moved")'
    stat -c %h two/moved; mkdir one/sub && python3 -c 'import os; os.rename("one/sub", "two/sub")' && ls -1 two`;
  await sameEverywhere('2\nlinked\nmoved\nsub\n', { script });
});

needing('python3').needing(oneMount)('files move between the project and the temporary directory', async () => {
  const script = `
    directory=$(mktemp -d) && echo text > "$directory/file"
    python3 -c 'import os, sys
try: os.rename(sys.argv[1] + "/file", "moved")
except OSError as error: print(error.strerror) if os.stat(sys.argv[1]).st_dev == os.stat(".").st_dev else os.system("mv " + sys.argv[1] + "/file moved")' "$directory"
    cat moved; rmdir "$directory"`;
  await sameEverywhere('text\n', { script });
});

needing()('here documents, pipes, traps and background jobs of a script', async () => {
  const script = `
    cat <<< here; trap 'echo trapped' TERM; kill -TERM $$
    (exit 7) & wait $!; echo "waited $?"; yes | head -n 1; ulimit -n > /dev/null && echo limits`;
  await sameEverywhere('here\ntrapped\nwaited 7\ny\nlimits\n', { script });
});

needing()('files in shared memory', async () => {
  const script = 'file=/dev/shm/pty-compat.$$; echo text > "$file" && cat "$file"; rm -f "$file"';
  await sameEverywhere('text\n', { script });
});

needing('flock', 'mkfifo')('locks and named pipes', async () => {
  const script = `
    mkfifo pipe; echo through > pipe & cat pipe; wait
    flock lock sh -c 'flock --nonblock lock true || echo locked'`;
  await sameEverywhere('through\nlocked\n', { script });
});

needing('strace')('strace follows its own child', async () => {
  const script = 'strace -f -e trace=execve -o trace sh -c /bin/true && grep -c "execve(\\"/bin/true\\"" trace';
  await sameEverywhere('1\n', { script });
});

needing('gdb', 'gcc')('gdb runs its own child and stops it', async () => {
  const files = { 'project/stop.c': 'int answer = 42;\nint main(void) { return answer - 42; }\n' };
  const script = `
    gcc -g -o stop stop.c
    gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set startup-with-shell off' -ex 'break main' -ex run \
      -ex 'print answer' -ex kill ./stop 2>&1 | grep -o '^.1 = 42'`;
  await sameEverywhere('$1 = 42\n', { files, script });
});

needing('id', 'getent')('names of users are known', async () => {
  await sameEverywhere('root\n0\n', { script: 'getent passwd 0 | cut -d: -f1; id -u root' });
});
