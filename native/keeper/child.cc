#include "keeper/child.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/groups.h"
#include "keeper/confine.h"
#include "keeper/sys.h"

namespace spty {
namespace {

constexpr int kNotStarted = 127;

[[noreturn]] void Fail(int error_fd, const wire::Failed& failed) {
  // Smaller than PIPE_BUF: one write, whole or not at all. If it fails the keeper sees EOF followed by our
  // exit status, and reports a shell that ended with 127.
  (void)!write(error_fd, &failed, sizeof failed);
  _exit(kNotStarted);
}

[[noreturn]] void Fail(int error_fd, Stage stage, int err) { Fail(error_fd, {stage, 0, err, 0, {}}); }

sigset_t ToSignalSet(uint64_t mask) {
  sigset_t set;
  sigemptyset(&set);
  for (int number = 1; number <= 64; ++number) {
    if ((mask >> (number - 1)) & 1) sigaddset(&set, number);  // NSIG is 65 at most; an unknown one is ignored
  }
  return set;
}

// Whether execvp(3) goes on to the next directory after this error.
bool NotHere(int err) {
  return err == ENOENT || err == ENOTDIR || err == ENAMETOOLONG || err == ESTALE || err == ENODEV ||
         err == ETIMEDOUT;
}

// A program without a "#!" line is a shell script.
int ExecuteScript(const PlanView& plan, char* path) {
  static char shell[] = "/bin/sh";
  char* argument_zero = plan.argv[0];
  plan.script_argv[0] = shell;
  plan.script_argv[1] = path;
  execve(shell, plan.script_argv, plan.env);
  int err = errno;
  plan.argv[0] = argument_zero;
  return err;
}

// Tries each candidate as execvp(3) would, and returns only if none could be executed. "Permission denied" in
// one directory is remembered while the search goes on; any other error that is not about the place ends it.
wire::Failed ExecuteFirst(const PlanView& plan) {
  wire::Failed failed{Stage::kExec, 0, ENOENT, 0, {}};
  for (uint32_t i = 0; i < plan.candidate_count; ++i) {
    char* path = plan.candidates[i];
    execve(path, plan.argv, plan.env);
    int err = errno == ENOEXEC ? ExecuteScript(plan, path) : errno;
    if (NotHere(err) && failed.err == EACCES) continue;
    failed.err = err;
    failed.candidate = i;
    if (!NotHere(err) && err != EACCES) break;
  }
  return failed;
}

}  // namespace

// The order is the argument for its safety:
//  0. the session's cgroup, first of all: nothing of the session was ever outside of it.
//  1. setsid: a fresh session without a terminal, leader and group of its own, so pid == pgid == sid.
//  2. TIOCSCTTY: the slave becomes the controlling terminal; the leader's group becomes its foreground group.
//  3. stdio: 0, 1 and 2 are the slave, or what the host gave in its place. Their original numbers are
//  CLOEXEC.
//  4. chdir, still with the host's credentials, as node-pty does.
//  5. confined: the bounding set of capabilities is emptied while the privilege to do so is still there.
//  6. gid, supplementary groups, uid: the last gives up the privilege that the others need.
//  7. every descriptor from 3 on is marked CLOEXEC: nothing but 0-2 reaches the shell.
//  8. signals: every disposition is the default one (what the host's C library uses for itself came to us as
//     ignored).
//  9. confined: no capability is left, and none can be gained by exec (no_new_privs).
// 10. confined: the Landlock domain. From here on no path can be opened but what the policy grants.
// 11. confined: the seccomp filter, last, as it may refuse what the steps before it need. If it has a
//     listener the keeper gets that. Until the keeper answers, whoever asks waits.
// 12. macOS: the Seatbelt profile, which confines, or only marks the session. libsandbox may read files and
//     allocate, so everything else is done by now.
// 13. the mask of the calling thread is restored, so that no signal finds us half done.
// 14. execve of each candidate; nothing of ours runs afterwards.
void BecomeShell(const PlanView& plan, const ChildFds& fds) {
  const int error_fd = fds.error;
  if (fds.cgroup >= 0) {
    if (int err = JoinCgroup(fds.cgroup); err != 0) Fail(error_fd, Stage::kCgroup, err);
  }
  if (setsid() == -1) Fail(error_fd, Stage::kSession, errno);
  if (ioctl(fds.slave, TIOCSCTTY, 0) == -1) Fail(error_fd, Stage::kTerminal, errno);
  for (int target = STDIN_FILENO; target <= STDERR_FILENO; ++target) {
    const int given = fds.stdio[target];
    if (dup2(given >= 0 ? given : fds.slave, target) == -1) Fail(error_fd, Stage::kStdio, errno);
  }
  if (chdir(plan.cwd) == -1) Fail(error_fd, Stage::kCwd, errno);
  if (plan.confined) {
    if (int err = DropBoundingSet(); err != 0) Fail(error_fd, Stage::kPrivileges, err);
  }
  if (plan.set_ids && setgid(plan.gid) == -1) Fail(error_fd, Stage::kGid, errno);
  if (plan.set_groups && SetGroups(plan.group_count, plan.groups) == -1)
    Fail(error_fd, Stage::kGroups, errno);
  if (plan.set_ids && setuid(plan.uid) == -1) Fail(error_fd, Stage::kUid, errno);
  if (int err = MarkCloseOnExecFrom(3); err != 0) Fail(error_fd, Stage::kDescriptors, err);
  if (int err = ResetSignalDispositions(); err != 0) Fail(error_fd, Stage::kSignals, err);
  if (plan.confined) {
    if (int err = GiveUpPrivileges(); err != 0) Fail(error_fd, Stage::kPrivileges, err);
    if (plan.inner_domain) {
      if (int err = EnterDomain(fds.inner_domain); err != 0) Fail(error_fd, Stage::kLandlock, err);
    }
    if (plan.filter_count > 0) {
      int listener = -1;
      if (int err = InstallFilter(plan.filter, plan.filter_count, plan.gate ? &listener : nullptr); err != 0)
        Fail(error_fd, Stage::kSeccomp, err);
      if (plan.gate) {
        if (int err = HandOverListener(fds.gate, listener); err != 0) Fail(error_fd, Stage::kGate, err);
      }
    }
  }
  if (plan.profile[0] != '\0') {
    wire::Failed failed{Stage::kSeatbelt, 0, 0, 0, {}};
    failed.err = EnterSeatbelt(plan.profile, failed.text, sizeof failed.text);
    if (failed.err != 0) Fail(error_fd, failed);
  }
  sigset_t mask = ToSignalSet(plan.signal_mask);
  if (sigprocmask(SIG_SETMASK, &mask, nullptr) == -1) Fail(error_fd, Stage::kSignals, errno);
  Fail(error_fd, ExecuteFirst(plan));
}

}  // namespace spty
