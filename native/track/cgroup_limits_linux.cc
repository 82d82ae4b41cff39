#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <sstream>
#include <vector>

#include "base/eintr.h"
#include "base/fd.h"
#include "track/cgroup_limits.h"

namespace spty {
namespace {

Error LimitError(int err, const std::string& subject) { return {Stage::kCgroup, err, subject}; }

Result<void> WriteFile(int dir, const char* name, const std::string& text, const std::string& path) {
  const Fd fd(openat(dir, name, O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return LimitError(errno, path + "/" + name);
  const ssize_t written = RetryEintr([&] { return write(fd.get(), text.data(), text.size()); });
  if (written == -1) return LimitError(errno, path + "/" + name);
  return {};
}

bool Has(int dir, const char* name) { return faccessat(dir, name, F_OK, 0) == 0; }

Result<void> Limit(int dir, const char* file, const std::string& value, const std::string& path) {
  if (!Has(dir, file))
    return LimitError(ENOTSUP, path + "/" + file + " (its controller is not available there)");
  return WriteFile(dir, file, value, path);
}

std::vector<std::string> ControllersFor(const CgroupLimits& limits) {
  std::vector<std::string> names;
  if (limits.processes) names.emplace_back("pids");
  if (limits.memory_bytes) names.emplace_back("memory");
  if (limits.cpu_percent) names.emplace_back("cpu");
  return names;
}

bool Enabled(int place, const std::string& controller) {
  const Fd fd(openat(place, "cgroup.subtree_control", O_RDONLY | O_CLOEXEC));
  char text[512];
  const ssize_t size = fd.valid() ? RetryEintr([&] { return read(fd.get(), text, sizeof text); }) : -1;
  if (size <= 0) return false;
  std::istringstream words(std::string(text, static_cast<size_t>(size)));
  for (std::string word; words >> word;) {
    if (word == controller) return true;
  }
  return false;
}

// A cgroup with processes of its own that is not the topmost one must not hand controllers down. For memory
// the kernel refuses it; for pids and cpu it makes the cgroup a root of threads instead, and no process can
// enter any cgroup below it from then on (EOPNOTSUPP), not even a session's that wants no limits.
bool MayHandDown(int place) {
  if (!Has(place, "cgroup.type")) return true;  // the topmost
  const Fd fd(openat(place, "cgroup.procs", O_RDONLY | O_CLOEXEC));
  char first;
  return fd.valid() && RetryEintr([&] { return read(fd.get(), &first, 1); }) == 0;
}

}  // namespace

Result<void> OfferControllers(int place, const std::string& path, const CgroupLimits& limits) {
  for (const std::string& controller : ControllersFor(limits)) {
    if (Enabled(place, controller)) continue;
    // EBUSY: processes are in it, our own perhaps. ENOENT: not delegated to here, or in use by a version 1
    // hierarchy.
    const bool asked =
        MayHandDown(place) && WriteFile(place, "cgroup.subtree_control", "+" + controller, path).ok();
    if (!asked || !Enabled(place, controller))
      return LimitError(ENOTSUP, "the controller '" + controller + "' is not available in " + path);
  }
  return {};
}

Result<void> ApplyLimits(int dir, const std::string& path, const CgroupLimits& limits) {
  if (limits.processes) TRY(Limit(dir, "pids.max", std::to_string(*limits.processes), path));
  if (limits.memory_bytes) {
    TRY(Limit(dir, "memory.max", std::to_string(*limits.memory_bytes), path));
    // Swap would only make it slow instead of ending it; half a session is worth nothing. Where a kernel has
    // neither, memory.max alone holds.
    if (Has(dir, "memory.swap.max")) TRY(WriteFile(dir, "memory.swap.max", "0", path));
    if (Has(dir, "memory.oom.group")) TRY(WriteFile(dir, "memory.oom.group", "1", path));
  }
  if (limits.cpu_percent) {
    constexpr double kPeriod = 100'000;
    const auto quota =
        static_cast<uint64_t>(std::llround(std::max(1000.0, *limits.cpu_percent * kPeriod / 100)));
    TRY(Limit(dir, "cpu.max", std::to_string(quota) + " 100000", path));
  }
  return {};
}

uint64_t EventCount(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  std::string name;
  for (uint64_t count = 0; lines >> name >> count;) {
    if (name == key) return count;
  }
  return 0;
}

}  // namespace spty
