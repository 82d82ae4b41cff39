#!/usr/bin/env bash
# Builds with node-gyp in a copy of the tree, and runs what uses all of the addon.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d "${TMPDIR:-/tmp}/sandboxed-pty-gyp.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/home"
tar -c --exclude=./.git --exclude=./build --exclude=./node_modules --exclude=./prebuilds . | tar -x -C "$work/tree"
cp -a node_modules "$work/tree/"
cd "$work/tree"
# Nothing of this machine's own npm configuration may be needed, nor reach us by way of an npm that runs us.
for name in $(compgen -e | grep -i '^npm_'); do unset "$name"; done
export HOME="$work/home" NPM_CONFIG_USERCONFIG=/dev/null
npm run build:gyp
npm start
# What differs is how the addon was built: a few files that use all of it, not the whole suite again.
node scripts/test.mjs --js --no-build -- launch keeper sandbox.test settings/ workers leaks completeness
