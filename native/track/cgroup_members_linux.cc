#include "track/cgroup_members_linux.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "base/eintr.h"
#include "base/fd.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

// Descriptors that one round may hold.
constexpr size_t kAtATime = 256;

Result<void> WriteOne(int fd, const std::string& path) {
  if (RetryEintr([&] { return pwrite(fd, "1", 1, 0); }) == 1) return {};
  return Error{Stage::kCgroup, errno, path};
}

struct Held {
  pid_t pid;
  Fd process;
};

// Each member is held by a pidfd before it is looked up again: one that is listed then and can still be
// signalled through its pidfd has had its number all the time, so that it is the one that is listed.
Result<void> KillHeld(int procs, const std::vector<pid_t>& pids, const std::string& path) {
  std::vector<Held> held;
  for (pid_t pid : pids) {
    Fd process(static_cast<int>(syscall(uapi::kSysPidfdOpen, pid, 0)));
    if (process.valid()) {
      held.push_back({pid, std::move(process)});
    } else if (errno != ESRCH) {
      return Error{Stage::kCgroup, errno, path};
    }
  }
  std::vector<pid_t> now = MembersOf(procs);
  std::sort(now.begin(), now.end());
  for (const Held& member : held) {
    if (!std::binary_search(now.begin(), now.end(), member.pid)) continue;
    if (syscall(uapi::kSysPidfdSendSignal, member.process.get(), SIGKILL, nullptr, 0) != 0 && errno != ESRCH)
      return Error{Stage::kCgroup, errno, path};
  }
  return {};
}

}  // namespace

std::string ReadWhole(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got =
        RetryEintr([&] { return pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size())); });
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

std::vector<pid_t> MembersOf(int procs) {
  std::vector<pid_t> pids;
  std::istringstream lines(ReadWhole(procs));
  for (pid_t pid; lines >> pid;) pids.push_back(pid);
  return pids;
}

Result<void> KillMembers(const CgroupFiles& files, const std::string& path) {
  if (files.kill >= 0) return WriteOne(files.kill, path);
  // Who is frozen does not fork, but can be killed. It takes a moment; who forks until then is found next
  // time.
  if (files.freeze >= 0) TRY(WriteOne(files.freeze, path));
  const std::vector<pid_t> pids = MembersOf(files.procs);
  for (size_t begin = 0; begin < pids.size(); begin += kAtATime) {
    const size_t end = std::min(pids.size(), begin + kAtATime);
    TRY(KillHeld(files.procs,
                 {pids.begin() + static_cast<ptrdiff_t>(begin), pids.begin() + static_cast<ptrdiff_t>(end)},
                 path));
  }
  return {};
}

}  // namespace spty
