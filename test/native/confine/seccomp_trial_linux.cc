#include "confine/seccomp_trial_linux.h"

#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/eintr.h"

namespace spty {
namespace {

constexpr uid_t kNobody = 65534;
constexpr unsigned kPatienceSeconds = 20;
// Exit statuses that are no errno.
constexpr int kNoIdentity = 250;
constexpr int kNoNamespaces = 251;
constexpr int kNoFilter = 252;

bool Become(uid_t uid) {
  if (uid == geteuid()) return true;
  return setgroups(0, nullptr) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0 &&
         // Setting ids makes a process undumpable, and its files in /proc root's.
         prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

[[noreturn]] void RunAct(const Surroundings& surroundings, const std::function<int()>& act) {
  alarm(kPatienceSeconds);
  rlimit no_core{};  // being killed by the filter is expected
  setrlimit(RLIMIT_CORE, &no_core);
  if (!Become(surroundings.uid)) _exit(kNoIdentity);
  if (surroundings.namespaces && unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) != 0)
    _exit(kNoNamespaces);
  if (surroundings.filter && !InstallFilter(*surroundings.filter)) _exit(kNoFilter);
  _exit(act());
}

}  // namespace

int ErrnoOf(long result) { return result == -1 ? errno : 0; }

Outcome Answered(int err) { return {Outcome::Kind::kAnswered, err, ""}; }
Outcome Killed(int signal) { return {Outcome::Kind::kKilled, signal, ""}; }

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::kNotTried) return out << "not tried: " << outcome.trouble;
  if (outcome.kind == Outcome::Kind::kKilled) return out << "killed by signal " << outcome.value;
  return out << (outcome.value == 0 ? "success" : ErrnoName(outcome.value));
}

Outcome Try(const Surroundings& surroundings, const std::function<int()>& act) {
  pid_t child = fork();
  if (child == -1) return {Outcome::Kind::kNotTried, 0, "no process"};
  if (child == 0) RunAct(surroundings, act);
  int status = 0;
  RetryEintr([&] { return waitpid(child, &status, 0); });
  if (WIFSIGNALED(status)) return Killed(WTERMSIG(status));
  switch (WEXITSTATUS(status)) {
    case kNoIdentity:
      return {Outcome::Kind::kNotTried, 0, "no other user"};
    case kNoNamespaces:
      return {Outcome::Kind::kNotTried, 0, "no user namespace"};
    case kNoFilter:
      return {Outcome::Kind::kNotTried, 0, "no filter"};
    default:
      return Answered(WEXITSTATUS(status));
  }
}

bool InstallFilter(const SeccompOptions& options, int* listener) {
  std::optional<Architecture> architecture = NativeArchitecture();
  if (!architecture) {
    errno = ENOTSUP;
    return false;
  }
  auto built = BuildSeccompFilter(options, *architecture);
  if (!built.ok()) {
    errno = built.error().err;
    return false;
  }
  std::vector<SockFilter>& filter = built.value();
  sock_fprog program{static_cast<unsigned short>(filter.size()),
                     reinterpret_cast<sock_filter*>(filter.data())};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        listener != nullptr ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program);
  if (listener != nullptr) *listener = static_cast<int>(result);
  return result >= 0;
}

std::vector<uid_t> UidsToTry() {
  if (geteuid() != 0) return {geteuid()};
  return {0, kNobody};
}

}  // namespace spty
