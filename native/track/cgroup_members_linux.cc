#include "track/cgroup_members_linux.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <sstream>

#include "base/eintr.h"
#include "base/fd.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

// Descriptors that one round may hold.
constexpr size_t kAtATime = 256;

Result<void> Write(int fd, char word, const std::string& path) {
  if (RetryEintr([&] { return pwrite(fd, &word, 1, 0); }) == 1) return {};
  return Error{Stage::kCgroup, errno, path};
}

struct Held {
  pid_t pid;
  Fd process;  // invalid where there is none to be had
};

long Kill(const Held& member) {
  // By number, for kernels before 5.3 and hosts without a free descriptor: it was listed a moment ago.
  if (!member.process.valid()) return kill(member.pid, SIGKILL);
  return syscall(uapi::kSysPidfdSendSignal, member.process.get(), SIGKILL, nullptr, 0);
}

// Each member is held by a pidfd before it is looked up again: one that is listed then and can still be
// signalled through its pidfd has had its number all the time, so that it is the one that is listed. All are
// tried, and the first failure is told.
Result<void> KillHeld(int procs, std::span<const pid_t> pids, const std::string& path) {
  std::vector<Held> held;
  for (pid_t pid : pids) {
    Fd process(static_cast<int>(syscall(uapi::kSysPidfdOpen, pid, 0)));
    if (process.valid() || errno != ESRCH) held.push_back({pid, std::move(process)});
  }
  std::vector<pid_t> now = MembersOf(procs);
  std::sort(now.begin(), now.end());
  int failure = 0;
  for (const Held& member : held) {
    if (!std::binary_search(now.begin(), now.end(), member.pid)) continue;
    if (Kill(member) != 0 && errno != ESRCH && failure == 0) failure = errno;
  }
  if (failure != 0) return Error{Stage::kCgroup, failure, path};
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
  if (files.kill >= 0) return Write(files.kill, '1', path);
  // Who is frozen does not fork, but can be killed. It takes a moment; who forks until then is found next
  // time.
  if (files.freeze >= 0) TRY(Write(files.freeze, '1', path));
  const std::vector<pid_t> pids = MembersOf(files.procs);
  Result<void> killed;
  for (std::span<const pid_t> rest = pids; !rest.empty();) {
    const size_t count = std::min(rest.size(), kAtATime);
    auto some = KillHeld(files.procs, rest.first(count), path);
    if (killed.ok()) killed = std::move(some);
    rest = rest.subspan(count);
  }
  // Cgroups inside this one were frozen with it, and their members are not listed here: they are to run on
  // until they are orphans of the keeper's.
  if (files.freeze >= 0) TRY(Write(files.freeze, '0', path));
  return killed;
}

}  // namespace spty
