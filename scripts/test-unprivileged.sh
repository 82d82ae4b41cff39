#!/usr/bin/env bash
# Runs all suites in a copy of this tree as an unprivileged user: real users are not root. The user gets a HOME and a
# TMPDIR of its own and, where one can be made, a delegated cgroup v2 subtree. Needs root; leaves nothing behind.
# What `npm test` has built here is used as it is: a private mount shows the copy at this very path, because the build
# and the test program know it. Where that cannot be done the copy is built anew.
#   scripts/test-unprivileged.sh [arguments of scripts/test.mjs]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $EUID -ne 0 ]]; then
  echo 'Only root can become another user. Run: npm test' >&2
  exit 1
fi
root=$PWD
user=${SPTY_TEST_USER:-nobody}
uid=$(id -u "$user")
gid=$(id -g "$user")

temp=$(mktemp -d /tmp/sandboxed-pty-user.XXXXXX)
# Not below /tmp, which the default settings grant as a whole: what is refused in a home or a project there would prove
# nothing, by whichever mount it is reached.
base=$(mktemp -d /var/lib/sandboxed-pty-user.XXXXXX)
cgroup=''

# shellcheck disable=SC2317  # called by the trap
clean_up() {
  local pid
  if [[ -n $cgroup && -d $cgroup ]]; then
    # cgroup.kill is the kernel's own loop (5.14 and newer); the rest ends what an older kernel leaves.
    echo 1 2>/dev/null >"$cgroup/cgroup.kill" || true
    for _ in {1..50}; do
      find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || true
      [[ -d $cgroup ]] || break
      while read -r pid; do kill -KILL "$pid" 2>/dev/null || true; done < <(find "$cgroup" -name cgroup.procs -exec cat {} +)
      sleep 0.1
    done
    if [[ -d $cgroup ]]; then echo "$cgroup could not be removed" >&2; fi
  fi
  rm -rf "$base" "$temp"
}
trap clean_up EXIT

# A subtree that the user may divide further, below the cgroup that we are in.
delegate() {
  local mount own
  mount=$(awk '{for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") {print $5; exit}}' /proc/self/mountinfo)
  own=$(sed -n 's/^0:://p' /proc/self/cgroup)
  if [[ -z $mount ]]; then
    echo 'No cgroup v2 is mounted here: running without a delegated subtree'
    return
  fi
  local wanted="$mount${own%/}/sandboxed-pty-user.$$"
  if ! mkdir "$wanted" 2>/dev/null; then
    echo "$wanted cannot be made: running without a delegated subtree"
    return
  fi
  cgroup=$wanted
  mkdir "$cgroup/suite"
  local dir file
  for dir in "$cgroup" "$cgroup/suite"; do
    chown "$uid:$gid" "$dir"
    for file in cgroup.procs cgroup.subtree_control cgroup.threads; do
      [[ ! -e $dir/$file ]] || chown "$uid:$gid" "$dir/$file"
    done
  done
  echo "Delegated cgroup: $cgroup"
}

# Pids of the user's processes. The suite must not leave one behind.
processes_of_user() {
  ps -o pid= -U "$uid" 2>/dev/null | tr -d ' ' | sort || true
}

delegate
mkdir "$base/tree" "$base/home"
# Not what other steps of a check are writing meanwhile.
tar -c --exclude=./.git --exclude='./build/tests-*' --exclude='./build/prebuild*' --exclude=./build/tidy --exclude=./build/check \
  --exclude=./prebuilds . | tar -x -C "$base/tree"
chown -R "$uid:$gid" "$base" "$temp"
before=$(processes_of_user)

user_command=(
  env -i PATH="$PATH" LANG="${LANG:-C.UTF-8}" TERM="${TERM:-dumb}" SHELL=/bin/sh USER="$user" LOGNAME="$user"
  CI="${CI:-}" HOME="$base/home" TMPDIR="$temp" NPM_CONFIG_USERCONFIG=/dev/null NPM_CONFIG_UPDATE_NOTIFIER=false
  setpriv --reuid="$uid" --regid="$gid" --clear-groups --inh-caps=-all
)
as_user() {
  "${user_command[@]}" "$@"
}

if ! as_user node --version >/dev/null; then
  echo "$(command -v node) cannot be run by $user. Put Node.js where every user can reach it, for example in /usr." >&2
  exit 1
fi
privileges=$(as_user sed -n 's/^CapEff:\t//p' /proc/self/status)
if [[ ! $privileges =~ ^0+$ ]]; then
  echo "$user still has the capabilities $privileges; the run would prove nothing" >&2
  exit 1
fi

# Runs a command as the user, in the copy, at this tree's own path.
in_place() {
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --mount --propagation private bash -c 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"' _ \
    "$base/tree" "$root" "${user_command[@]}" "$@"
}

run_suites() {
  if [[ -x build/tests/spty_tests ]] && in_place test -x build/tests/spty_tests; then
    in_place npm test -- --no-build "$@"
  else
    echo "The build in $root cannot be used by $user: building anew in $base/tree"
    rm -rf "$base/tree/build"
    cd "$base/tree"
    as_user npm test -- "$@"
  fi
}

status=0
(
  if [[ -n $cgroup ]]; then echo "$BASHPID" >"$cgroup/suite/cgroup.procs"; fi
  run_suites "$@" </dev/null
) || status=$?

# What is dying needs a moment; what is not is a leak.
for _ in {1..30}; do
  left=$(comm -13 <(echo "$before") <(processes_of_user))
  [[ -n $left ]] || break
  sleep 0.1
done
if [[ -n $left ]]; then
  echo "The suites left these processes of $user behind:" >&2
  # shellcheck disable=SC2086
  ps -o pid,ppid,stat,etimes,args -p "$(echo $left | tr ' ' ',')" >&2 || true
  status=1
fi
exit "$status"
