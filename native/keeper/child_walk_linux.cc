#include "keeper/child_walk_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/eintr.h"
#include "base/fd.h"
#include "track/directory.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

constexpr auto kByPidfd = static_cast<idtype_t>(3);  // P_PIDFD, which older C libraries lack

// A bit per number that a process can have (PID_MAX_LIMIT). Pages that are never touched cost nothing.
constexpr pid_t kNumbers = 4 << 20;
unsigned char known[kNumbers / 8];

unsigned char BitOf(pid_t pid) { return static_cast<unsigned char>(1U << (pid % 8)); }

// Whether it is a new face. The last few thousand are remembered, no more: numbers come around again, and a
// session that forks all the time must not look like one that merely takes long to die.
bool FirstSeen(pid_t pid) {
  constexpr size_t kRemembered = 4096;
  static pid_t remembered[kRemembered];
  static size_t count = 0;
  if (pid >= kNumbers) return true;
  if ((known[pid / 8] & BitOf(pid)) != 0) return false;
  if (count == kRemembered) {
    for (pid_t old : remembered) known[old / 8] = 0;
    count = 0;
  }
  known[pid / 8] |= BitOf(pid);
  remembered[count++] = pid;
  return true;
}

// False if they cannot be listed. "thread-self", not "self/task/PID": inside a pid namespace without its own
// /proc our own number would not match. The children's do not match there either, hence the look at each
// before it is killed: then nobody is killed one by one, and nothing is said to be proven.
template <typename Action>
bool ForEachListed(const char* path, Action action) {
  Fd list(open(path, O_RDONLY | O_CLOEXEC));
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

// A kernel without CONFIG_PROC_CHILDREN has no such list. Then everybody is asked about: whoever is not our
// child is passed over before anything is done to it.
template <typename Action>
void ForEachChild(const char* list, Action action) {
  if (ForEachListed(list, action)) return;
  const Fd processes(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!processes.valid()) return;
  const auto visit = [](void* context, const char* name, EntryKind) {
    const int pid = atoi(name);
    if (pid > 0) (*static_cast<Action*>(context))(static_cast<pid_t>(pid));
  };
  (void)ListDirectory(processes.get(), visit, &action);
}

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(uapi::kSysPidfdOpen, pid, 0)); }

// Says nothing about whether it has ended, and leaves its status where it is.
bool IsOurChild(idtype_t type, int number) {
  siginfo_t info{};
  return waitid(type, static_cast<id_t>(number), &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

long SendSignal(const Fd& process, int number) {
  return syscall(uapi::kSysPidfdSendSignal, process.get(), number, nullptr, 0);
}

}  // namespace

// EPERM (a setuid program) and ESRCH cannot be helped here; the caller goes on until nobody is left.
void KillShell(pid_t shell) {
  // Not yet in a session of its own it is in our group.
  if (getpgid(shell) == shell) kill(-shell, SIGKILL);
  kill(shell, SIGKILL);
}

void KillChildren(const char* list) {
  ForEachChild(list, [](pid_t pid) {
    if (IsOurChild(P_PID, pid)) kill(pid, SIGKILL);
  });
}

uint32_t KillVanishingChildren(const char* list) {
  uint32_t fresh = 0;
  ForEachChild(list, [&](pid_t pid) {
    const Fd process(OpenPidfd(pid));
    if (!process.valid() || !IsOurChild(kByPidfd, process.get())) return;
    if (SendSignal(process, SIGKILL) == 0 && FirstSeen(pid)) ++fresh;
  });
  return fresh;
}

bool CanKillVanishingChildren() {
  const Fd self(OpenPidfd(getpid()));
  if (!self.valid() || SendSignal(self, 0) != 0) return false;
  siginfo_t info{};
  // ECHILD: understood. Before 5.4 it is EINVAL.
  return waitid(kByPidfd, static_cast<id_t>(self.get()), &info, WEXITED | WNOHANG | WNOWAIT) == -1 &&
         errno == ECHILD;
}

}  // namespace spty
