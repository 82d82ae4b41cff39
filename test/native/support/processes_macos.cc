// Compiled and linked, never run: nobody here has a Mac.
#include <libproc.h>
#include <sys/event.h>
#include <sys/proc_info.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/eintr.h"
#include "base/fd.h"
#include "support/processes.h"

namespace spty {
namespace {

constexpr time_t kPatienceSeconds = 20;

// Every process of the system. The table may grow between the question for its size and the one for it.
std::vector<kinfo_proc> AllProcesses() {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_ALL};
  for (;;) {
    size_t bytes = 0;
    if (sysctl(name, 3, nullptr, &bytes, nullptr, 0) == -1) return {};
    std::vector<kinfo_proc> processes(bytes / sizeof(kinfo_proc) + 32);
    bytes = processes.size() * sizeof(kinfo_proc);
    if (sysctl(name, 3, processes.data(), &bytes, nullptr, 0) == -1) {
      if (errno == ENOMEM) continue;
      return {};
    }
    processes.resize(bytes / sizeof(kinfo_proc));
    return processes;
  }
}

bool ReadBsdInfo(pid_t pid, proc_bsdinfo* info) {
  // With 1: also zombies.
  return proc_pidinfo(pid, PROC_PIDTBSDINFO, 1, info, sizeof *info) == static_cast<int>(sizeof *info);
}

std::string PathOf(pid_t pid, int fd) {
  vnode_fdinfowithpath info{};
  const int size = proc_pidfdinfo(pid, fd, PROC_PIDFDVNODEPATHINFO, &info, sizeof info);
  return size == static_cast<int>(sizeof info) ? info.pvip.vip_path : "file:?";
}

std::string Kind(pid_t pid, const proc_fdinfo& entry) {
  switch (entry.proc_fdtype) {
    case PROX_FDTYPE_VNODE:
      return PathOf(pid, entry.proc_fd);
    case PROX_FDTYPE_SOCKET:
      return "socket:";
    case PROX_FDTYPE_PIPE:
      return "pipe:";
    case PROX_FDTYPE_KQUEUE:
      return "kqueue:";
    default:
      return "type:" + std::to_string(entry.proc_fdtype);
  }
}

}  // namespace

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const kinfo_proc& process : AllProcesses()) {
    if (process.kp_eproc.e_ppid == pid) children.push_back(process.kp_proc.p_pid);
  }
  std::sort(children.begin(), children.end());
  return children;
}

pid_t ParentOf(pid_t pid) {
  proc_bsdinfo info{};
  return ReadBsdInfo(pid, &info) ? static_cast<pid_t>(info.pbi_ppid) : 0;
}

std::map<int, std::string> DescriptorsOf(pid_t pid) {
  std::map<int, std::string> descriptors;
  const int bytes = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, nullptr, 0);
  if (bytes <= 0) return descriptors;
  std::vector<proc_fdinfo> entries(static_cast<size_t>(bytes) / sizeof(proc_fdinfo) + 32);
  const int got = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, entries.data(),
                               static_cast<int>(entries.size() * sizeof(proc_fdinfo)));
  entries.resize(got > 0 ? static_cast<size_t>(got) / sizeof(proc_fdinfo) : 0);
  for (const proc_fdinfo& entry : entries) descriptors[entry.proc_fd] = Kind(pid, entry);
  return descriptors;
}

std::map<int, std::string> OwnDescriptors() { return DescriptorsOf(getpid()); }

char StateOf(pid_t pid) {
  proc_bsdinfo info{};
  if (!ReadBsdInfo(pid, &info)) return '\0';
  // SIDL, SRUN, SSLEEP, SSTOP, SZOMB of sys/proc.h.
  return info.pbi_status >= 1 && info.pbi_status <= 5 ? "IRSTZ"[info.pbi_status - 1] : '?';
}

size_t OwnThreads() {
  proc_taskinfo info{};
  const int size = proc_pidinfo(getpid(), PROC_PIDTASKINFO, 0, &info, sizeof info);
  return size == static_cast<int>(sizeof info) ? static_cast<size_t>(info.pti_threadnum) : 0;
}

bool WaitForDeath(pid_t pid) {
  const Fd queue(kqueue());
  struct kevent watched {};
  EV_SET(&watched, static_cast<uintptr_t>(pid), EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, nullptr);
  if (!queue.valid() || kevent(queue.get(), &watched, 1, nullptr, 0, nullptr) == -1) {
    return Eventually([&] { return !IsRunning(pid); });
  }
  const timespec patience{kPatienceSeconds, 0};
  struct kevent happened {};
  return RetryEintr([&] { return kevent(queue.get(), nullptr, 0, &happened, 1, &patience); }) == 1;
}

}  // namespace spty
