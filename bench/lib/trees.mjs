// Directories to work on, made once in build/bench.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {root} from './programs.mjs';

const target = join(root, 'build', 'bench', 'trees');

function files(directory, folders, perFolder, text) {
  for (let i = 0; i < folders; i++) {
    const folder = join(directory, `part${i % 20}`, `folder${i}`);
    mkdirSync(folder, {recursive: true});
    for (let j = 0; j < perFolder; j++) writeFileSync(join(folder, `file${j}.${j % 5 ? 'txt' : 'c'}`), text(i, j));
  }
}

function commitAll(directory) {
  const git = (...args) => execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@example.org', '-c', 'gc.auto=0', ...args], {cwd: directory});
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'all');
}

function repository(directory) {
  files(directory, 400, 50, (i, j) => `folder ${i}\nfile ${j}\n`);
  commitAll(directory);
}

function program(directory, count) {
  for (let i = 0; i < count; i++) {
    const text = `#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n
int part${i}(int n) { char text[32]; snprintf(text, sizeof text, "%d", n + ${i}); return (int)strlen(text) + atoi(text); }\n`;
    writeFileSync(join(directory, `part${i}.c`), text);
  }
  writeFileSync(join(directory, 'Makefile'), `objects := $(patsubst %.c,%.o,$(wildcard *.c))
all: $(objects)
clean:
\trm -f $(objects)
%.o: %.c
\t@cc -O1 -c -o $@ $<
`);
}

/** What clients of a network fetch: a repository as plain files, and a program that keeps a pool of connections. */
function clients(directory) {
  const origin = join(directory, 'origin');
  files(origin, 20, 5, (i, j) => `folder ${i}\nfile ${j}\n`);
  commitAll(origin);
  execFileSync('git', ['clone', '-q', '--bare', origin, join(directory, 'served.git')]);
  execFileSync('git', ['update-server-info'], {cwd: join(directory, 'served.git')});
  writeFileSync(join(directory, 'pool.js'), `
    const http = require('http');
    const [url, count] = [process.argv[2], Number(process.argv[3])];
    // Without keepAlive every request connects anew, twenty at a time.
    const agent = new http.Agent({maxSockets: 20});
    let left = count;
    for (let i = 0; i < count; i++) {
      http.get(url, {agent}, (answer) => answer.resume().on('end', () => --left)).on('error', (error) => { throw error; });
    }
    process.on('exit', () => { if (left > 0) process.exitCode = 1; });
  `);
}

const makers = {
  repository,
  clients,
  'compile-200': (directory) => program(directory, 200),
  'compile-20': (directory) => program(directory, 20),
};

/** The path of that tree. It appears under its name only when it is complete. */
export function treeFor(name) {
  const directory = join(target, name);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.${process.pid}`;
  rmSync(unfinished, {recursive: true, force: true});
  mkdirSync(unfinished, {recursive: true});
  makers[name](unfinished);
  renameSync(unfinished, directory);
  return directory;
}
