#include "keeper/child_walk_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/eintr.h"
#include "base/fd.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

constexpr auto kByPidfd = static_cast<idtype_t>(3);  // P_PIDFD, which older C libraries lack

// A bit per number that a process can have (PID_MAX_LIMIT). Pages that are never touched cost nothing.
constexpr pid_t kNumbers = 4 << 20;
unsigned char known[kNumbers / 8];

// Whether this is the first time. Of a number that came around again it is not, which only the count suffers
// from.
bool FirstSeen(pid_t pid) {
  if (pid >= kNumbers) return true;
  unsigned char& byte = known[pid / 8];
  const unsigned char bit = static_cast<unsigned char>(1U << (pid % 8));
  const bool first = (byte & bit) == 0;
  byte |= bit;
  return first;
}

// False if they cannot be listed. "thread-self", not "self/task/PID": inside a pid namespace without its own
// /proc the numbers would not match.
template <typename Action>
bool ForEachChild(Action action) {
  Fd list(open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC));
  if (!list.valid()) return false;
  char buffer[4096];
  long pid = 0;
  for (;;) {
    const ssize_t size = RetryEintr([&] { return read(list.get(), buffer, sizeof buffer); });
    if (size == -1) return false;
    for (ssize_t i = 0; i < size; ++i) {
      if (buffer[i] >= '0' && buffer[i] <= '9') {
        pid = pid * 10 + (buffer[i] - '0');
      } else if (pid > 0) {
        action(static_cast<pid_t>(pid));
        pid = 0;
      }
    }
    if (size == 0) break;
  }
  if (pid > 0) action(static_cast<pid_t>(pid));
  return true;
}

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(uapi::kSysPidfdOpen, pid, 0)); }

// Says nothing about whether it has ended, and leaves its status where it is.
bool IsOurChild(int pidfd) {
  siginfo_t info{};
  return waitid(kByPidfd, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

}  // namespace

// EPERM (a setuid program) and ESRCH cannot be helped here; the caller goes on until nobody is left.
void KillShell(pid_t shell) {
  // Not yet in a session of its own it is in our group.
  if (getpgid(shell) == shell) kill(-shell, SIGKILL);
  kill(shell, SIGKILL);
}

void KillChildren() {
  (void)ForEachChild([](pid_t pid) { kill(pid, SIGKILL); });
}

uint32_t KillVanishingChildren() {
  uint32_t fresh = 0;
  (void)ForEachChild([&](pid_t pid) {
    const Fd process(OpenPidfd(pid));
    if (!process.valid() || !IsOurChild(process.get())) return;
    if (syscall(uapi::kSysPidfdSendSignal, process.get(), SIGKILL, nullptr, 0) == 0 && FirstSeen(pid))
      ++fresh;
  });
  return fresh;
}

bool CanKillVanishingChildren() {
  const Fd self(OpenPidfd(getpid()));
  if (!self.valid()) return false;
  siginfo_t info{};
  // ECHILD: understood. Before 5.4 it is EINVAL.
  return waitid(kByPidfd, static_cast<id_t>(self.get()), &info, WEXITED | WNOHANG | WNOWAIT) == -1 &&
         errno == ECHILD;
}

}  // namespace spty
