#!/usr/bin/env bash
# Runs prebuilds/linux-x64-musl with a Node.js for musl on a Debian machine (packages musl and gcc). Nobody publishes one as a
# package, but pnpm's program for musl is Node.js with a script inside: without the mark that says so it is Node.js again. The
# C++ library that it needs is the system's, which asks glibc for a few functions that musl does not have: test/package/glibc-names.c.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program_package=@pnpm/linuxstatic-x64@11.21.0
loader=/lib/ld-musl-x86_64.so.1
for file in "$loader" prebuilds/linux-x64-musl/sandboxed_pty.node dist/index.js; do
  if [[ ! -e $file ]]; then
    printf '%s is missing. Debian: apt-get install musl; and: npm run build:lib, npm run prebuild -- --target linux-x64-musl\n' "$file" >&2
    exit 1
  fi
done
node scripts/prebuild.mjs --check --target linux-x64-musl

work=$(mktemp -d "${TMPDIR:-/tmp}/sandboxed-pty-musl.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/libraries" "$work/user/node_modules/sandboxed-pty"
(cd "$work" && npm pack --silent "$program_package" >/dev/null && tar -xzf ./*.tgz --strip-components=1 package/pnpm)
node -e '
  const fs = require("node:fs");
  const [from, to] = process.argv.slice(1);
  const program = fs.readFileSync(from);
  const mark = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:";
  const at = program.indexOf(`${mark}1`);
  if (at === -1) throw new Error("the program of pnpm is not what it was");
  program.write("0", at + mark.length);
  fs.writeFileSync(to, program, {mode: 0o755});
' "$work/pnpm" "$work/node"

cp -L "$(gcc -print-file-name=libstdc++.so.6)" "$(gcc -print-file-name=libgcc_s.so.1)" "$work/libraries/"
ln -s "$loader" "$work/libraries/libc.musl-x86_64.so.1"
# The system's C++ library asks for glibc's loader by this name.
gcc -O1 -shared -nostdlib -fPIC -fno-builtin -Wl,-soname,ld-linux-x86-64.so.2 -o "$work/libraries/ld-linux-x86-64.so.2" \
  test/package/glibc-names.c

cp -a dist schema package.json prebuilds "$work/user/node_modules/sandboxed-pty/"
cp test/package/{session.cjs,worker.cjs,imported.mjs} "$work/user/"
cd "$work/user"
export LD_LIBRARY_PATH="$work/libraries"
"$work/node" -e 'if (process.report.getReport().header.glibcVersionRuntime) throw new Error("this is not musl")'
"$work/node" -p '`Node.js ${process.version} on musl`'
for program in session.cjs worker.cjs imported.mjs; do "$work/node" "$program"; done
"$work/node" node_modules/sandboxed-pty/dist/cli/main.js doctor
