#include "session/leftovers.h"

#include <sys/wait.h>

#include <mutex>
#include <vector>

#include "base/eintr.h"

namespace spty {
namespace {

struct Leftovers {
  std::mutex mutex;
  std::vector<pid_t> pids;
};

// Never destroyed: threads of the host may still come here while the process exits.
Leftovers& Process() {
  static auto* leftovers = new Leftovers;
  return *leftovers;
}

}  // namespace

bool TryReap(pid_t pid) {
  return RetryEintr([&] { return waitpid(pid, nullptr, WNOHANG); }) != 0;
}

void LeaveToReap(pid_t pid) {
  if (pid <= 0 || TryReap(pid)) return;
  Leftovers& leftovers = Process();
  std::lock_guard lock(leftovers.mutex);
  leftovers.pids.push_back(pid);
}

void ReapLeftovers() {
  Leftovers& leftovers = Process();
  std::lock_guard lock(leftovers.mutex);
  std::erase_if(leftovers.pids, TryReap);
}

}  // namespace spty
