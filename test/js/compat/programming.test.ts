// Compilers, build tools, interpreters and their package managers.
import { needing, pip, rust, sameEverywhere } from './support';

const hello = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n';

needing('gcc')('gcc compiles, links and the result runs', async () => {
  const files = { 'project/hello.c': hello };
  await sameEverywhere('hello\n', { files, script: 'gcc -O1 -pipe -o hello hello.c && ./hello' });
});

needing('g++')('g++ compiles with temporary files between its steps', async () => {
  const files = { 'project/hello.cc': '#include <string>\n#include <cstdio>\nint main() { std::puts(std::string("hello").c_str()); }\n' };
  await sameEverywhere('hello\n', { files, script: 'g++ -no-pie -o hello hello.cc && ./hello' });
});

needing('make', 'gcc')('make with a job server', async () => {
  const makefile = 'all: $(foreach n,1 2 3 4 5 6 7 8,out/$(n))\nout/%:\n\t@mkdir -p out; sleep 0; echo $* > $@\n.PHONY: all\n';
  await sameEverywhere('8\n', {
    files: { 'project/Makefile': makefile },
    script: 'make --silent -j4 && ls out | wc -l',
  });
});

needing('make')('make that sorts output needs tmpfile(3)', async () => {
  const files = { 'project/Makefile': 'all: one two\none two:\n\t@echo made\n.PHONY: all one two\n' };
  await sameEverywhere('made\nmade\n', { files, script: 'make --silent -j2 --output-sync=target' }, ['terminal']);
});

needing('cmake', 'make', 'gcc')('cmake configures, builds and runs', async () => {
  const files = {
    'project/CMakeLists.txt': 'cmake_minimum_required(VERSION 3.10)\nproject(hello C)\nadd_executable(hello hello.c)\n',
    'project/hello.c': hello,
  };
  await sameEverywhere('hello\n', {
    files,
    script: 'cmake -B out -S . > log 2>&1 && cmake --build out >> log 2>&1 && out/hello || cat log',
  });
});

needing('node')('node runs code, children, workers and timers', async () => {
  const program = `
    const {execFileSync} = require('child_process');
    const {Worker} = require('worker_threads');
    console.log(execFileSync(process.execPath, ['-p', '6 * 7'], {encoding: 'utf8'}).trim());
    new Worker('require("worker_threads").parentPort.postMessage(process.memoryUsage().rss > 0)', {eval: true})
      .on('message', (text) => console.log('worker', text));
    require('fs/promises').readFile(__filename).then((text) => console.log('read', text.length > 0));
    setTimeout(() => console.log('cpus', require('os').cpus().length > 0), 500).unref;`;
  await sameEverywhere('42\ncpus true\nread true\nworker true\n', {
    files: { 'project/program.js': program },
    script: 'node program.js | sort',
  });
});

needing('node')('node talks over a UNIX socket and a child channel of its own', async () => {
  const program = `
    const net = require('net'), {fork} = require('child_process');
    if (process.send) return process.send('forked'), process.disconnect();
    fork(__filename).on('message', (text) => {
      console.log(text);
      const server = net.createServer((peer) => peer.end('over a socket'));
      server.listen('./socket', () => net.connect('./socket').on('data', (data) => console.log(String(data))).on('end', () => server.close()));
    });`;
  await sameEverywhere('forked\nover a socket\n', { files: { 'project/program.js': program }, script: 'node program.js' });
});

needing('npm')('npm installs a local package, runs its scripts and packs it', async () => {
  const files = {
    'project/library/package.json': '{"name": "library", "version": "1.2.3", "main": "main.js", "bin": {"library": "main.js"}}',
    'project/library/main.js': '#!/usr/bin/env node\nconsole.log("from the library");\n',
    'project/app/package.json': '{"name": "app", "version": "1.0.0", "scripts": {"go": "library"}}',
  };
  const script = `
    export npm_config_cache=$PWD/cache npm_config_offline=true npm_config_update_notifier=false npm_config_fund=false
    (cd library && npm pack --silent) && cd app && npm install --silent --no-audit ../library/library-1.2.3.tgz &&
    node -p 'require("./node_modules/library/package.json").version' && npm run --silent go`;
  await sameEverywhere('library-1.2.3.tgz\n1.2.3\nfrom the library\n', { files, script });
});

needing('python3')('python makes a virtual environment and runs in it', async () => {
  const script = `
    python3 -m venv --without-pip environment && . environment/bin/activate &&
    python -c 'import sys; print(sys.prefix != sys.base_prefix)'`;
  await sameEverywhere('True\n', { script });
});

needing('python3').needing(pip())('python makes a virtual environment with pip, which installs a package', async () => {
  const wheel = `
import zipfile
with zipfile.ZipFile("library-1.2.3-py3-none-any.whl", "w") as file:
    file.writestr("library.py", "name = 'from the library'")
    file.writestr("library-1.2.3.dist-info/METADATA", "Metadata-Version: 2.1\\nName: library\\nVersion: 1.2.3\\n")
    file.writestr("library-1.2.3.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    file.writestr("library-1.2.3.dist-info/RECORD", "")
`;
  // Its cache lies in the home directory, which is not writable, unless the settings say so.
  const script = `
    export PIP_NO_CACHE_DIR=1; python3 -m venv environment && . environment/bin/activate && python wheel.py &&
    pip install --quiet --no-index --disable-pip-version-check ./library-1.2.3-py3-none-any.whl &&
    python -c 'import library; print(library.name)'`;
  await sameEverywhere('from the library\n', { files: { 'project/wheel.py': wheel }, script });
});

const pool = `
import multiprocessing

def square(n):
    return n * n

if __name__ == "__main__":
    multiprocessing.set_start_method(METHOD)
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(square, range(5))))
    with multiprocessing.Manager() as manager:
        shared = manager.dict()
        process = multiprocessing.Process(target=shared.update, args=({"answer": 42},))
        process.start()
        process.join()
        print(shared["answer"])
    value = multiprocessing.Value("i", 7)
    with value.get_lock():
        print(value.value)
`;

for (const method of ['fork', 'spawn', 'forkserver']) {
  needing('python3')(`python's multiprocessing by ${method}: pool, manager, lock`, async () => {
    const files = { 'project/pool.py': pool.replace('METHOD', `"${method}"`) };
    await sameEverywhere('30\n42\n7\n', { files, script: 'python3 pool.py' });
  });
}

needing('python3')("python's threads, subprocesses and asyncio", async () => {
  const program = `
import asyncio, subprocess, concurrent.futures, tempfile, os
print(subprocess.check_output(["echo", "child"], text=True).strip())
with concurrent.futures.ThreadPoolExecutor(4) as threads:
    print(sum(threads.map(abs, range(-3, 4))))
async def main():
    process = await asyncio.create_subprocess_shell("echo async", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0].decode().strip())
asyncio.run(main())
with tempfile.NamedTemporaryFile() as file:
    print(os.path.exists(file.name))
`;
  await sameEverywhere('child\n12\nasync\nTrue\n', { files: { 'project/program.py': program }, script: 'python3 program.py' });
});

needing('java', 'javac')('javac compiles, and java runs threads, children and a garbage collection', async () => {
  const program = `
import java.nio.file.*;
import java.util.concurrent.*;
public class Program {
  public static void main(String[] args) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    System.out.println(threads.submit(() -> 6 * 7).get());
    threads.shutdown();
    System.gc();
    Process child = new ProcessBuilder("echo", "child").redirectErrorStream(true).start();
    System.out.print(new String(child.getInputStream().readAllBytes()));
    Path file = Files.createTempFile("spty", ".txt");
    System.out.println(Files.exists(file));
    Files.delete(file);
  }
}
`;
  await sameEverywhere('42\nchild\ntrue\n', {
    files: { 'project/Program.java': program },
    // It does not look at TMPDIR by itself.
    script: 'javac -J-Xmx256m Program.java && java -Xmx128m -Djava.io.tmpdir=${TMPDIR:-/tmp} Program',
  });
});

needing('go')('go builds, tests and runs', async () => {
  const program = `package main

import (
	"fmt"
	"os/exec"
)

func double(n int) int { return 2 * n }

func main() {
	results := make(chan int)
	go func() { results <- double(21) }()
	fmt.Println(<-results)
	out, err := exec.Command("echo", "child").Output()
	fmt.Print(string(out))
	if err != nil {
		fmt.Println(err)
	}
}
`;
  const check = `package main

import "testing"

func TestDouble(t *testing.T) {
	if double(2) != 4 {
		t.Fail()
	}
}
`;
  await sameEverywhere('passed\n42\nchild\n', {
    files: { 'project/go.mod': 'module hello\n\ngo 1.19\n', 'project/main.go': program, 'project/main_test.go': check },
    // Its cache lies in the home directory, which is not writable, unless the settings say so.
    script: 'export GOCACHE=$PWD/.cache GOFLAGS=-mod=mod GOTELEMETRY=off; go test . > /dev/null && echo passed; go build -o hello . && ./hello',
  });
});

const { setUp, sandbox, ...cargo } = rust();

needing().needing(cargo)('cargo builds, tests and runs', async () => {
  const program = `
use std::process::Command;
use std::thread;

fn double(n: u32) -> u32 {
    2 * n
}

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}

fn main() {
    println!("{}", thread::spawn(|| double(21)).join().unwrap());
    let child = Command::new("echo").arg("child").output().unwrap();
    print!("{}", String::from_utf8(child.stdout).unwrap());
}
`;
  await sameEverywhere('passed\n42\nchild\n', {
    files: { 'project/Cargo.toml': '[package]\nname = "hello"\nversion = "0.1.0"\nedition = "2021"\n', 'project/src/main.rs': program },
    // Its registry lies in the home directory, which is not writable, unless the settings say so.
    sandbox,
    script: setUp + 'export CARGO_HOME=$PWD/.cargo-home; cargo test --offline > /dev/null 2>&1 && echo passed; cargo run --quiet --offline',
  });
});
