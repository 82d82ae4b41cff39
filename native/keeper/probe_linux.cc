// What the kernel offers, found out by doing it: version numbers say nothing about containers, backports and
// sandboxes around us.
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/eintr.h"
#include "keeper/confine.h"
#include "keeper/unix_diag_linux.h"
#include "uapi/landlock.h"
#include "uapi/seccomp.h"

namespace spty {
namespace {

constexpr long kPidfdOpen = 434;
constexpr long kPidfdGetfd = 438;
constexpr long kOpenat2 = 437;

// Runs `attempt` in a child and returns the errno that it exits with. What it does to itself ends with it.
template <typename Attempt>
int InChild(Attempt attempt) {
  pid_t pid = fork();
  if (pid == -1) return errno;
  if (pid == 0) _exit(attempt() & 0xff);  // every errno we may meet fits into eight bits
  int status = 0;
  if (RetryEintr([&] { return waitpid(pid, &status, 0); }) == -1) return errno;
  // Killed: by a filter around us, for example.
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

// A filter that changes nothing.
int TryFilter(bool with_listener) {
  if (int err = RefuseNewPrivileges(); err != 0) return err;
  const SockFilter allow{kBpfReturn, 0, 0, kSeccompAllow};
  int listener = -1;
  int err = InstallFilter(&allow, 1, with_listener ? &listener : nullptr);
  Fd owned(listener);
  return err;
}

// The other calls that the gate cannot do without, on ourselves.
int TryGateCalls() {
  Fd self(static_cast<int>(syscall(kPidfdOpen, getpid(), 0U)));
  if (!self.valid()) return errno;
  Fd copy(static_cast<int>(syscall(kPidfdGetfd, self.get(), wire::kControlFd, 0U)));
  if (!copy.valid()) return errno;
  // A null "how" of size zero: EINVAL from a kernel that has the call.
  if (syscall(kOpenat2, -1, "/", nullptr, 0UL) == -1 && errno != EINVAL) return errno;
  return 0;
}

}  // namespace

wire::Features ProbeFeatures() {
  wire::Features features{};
  long abi = syscall(landlock::kCreateRuleset, nullptr, 0UL, landlock::kQueryVersion);
  if (abi < 1) {
    features.landlock_err = abi == -1 ? errno : ENOSYS;
  } else {
    features.landlock_abi = static_cast<int32_t>(abi);
    long errata = syscall(landlock::kCreateRuleset, nullptr, 0UL, landlock::kQueryErrata);
    features.landlock_errata = errata > 0 ? static_cast<int32_t>(errata) : 0;
  }
  features.seccomp_err = InChild([] { return TryFilter(false); });
  features.notify_err = InChild([] { return TryFilter(true); });
  if (features.notify_err == 0) features.notify_err = TryGateCalls();
  // No such listener; only whether the question can be asked.
  ListenerFound found;
  features.diag_err = FindListener(ListenerQuery{}, &found);
  return features;
}

}  // namespace spty
