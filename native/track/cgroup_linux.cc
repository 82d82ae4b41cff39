#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "track/cgroup.h"
#include "track/cgroup_members_linux.h"
#include "track/process_ref.h"
#include "track/remove_tree.h"

namespace spty {
namespace {

constexpr int kRemoveAttempts = 50;

Error CgroupError(int err, const std::string& path) { return {Stage::kCgroup, err, path}; }

}  // namespace

std::string OwnCgroupPrefix() {
  static const std::string copy = [] {
    uint32_t number = 0;
    // Without the kernel's randomness the time does: two copies are not loaded in the same nanosecond. No
    // address: the session can read the name.
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != ssize_t{sizeof number}) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      number = static_cast<uint32_t>(now.tv_nsec);
    }
    char digits[9];
    snprintf(digits, sizeof digits, "%08x", number);
    return std::string(digits);
  }();
  return kCgroupPrefix + OwnerTag() + "-" + copy + "-";
}

namespace {

void Pause() {
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

std::string CgroupLeaf::NewName() {
  static std::atomic<uint64_t> next{1};
  return OwnCgroupPrefix() + std::to_string(next++);
}

Result<CgroupLeaf> CgroupLeaf::Create(std::shared_ptr<const CgroupPlace> place, const CgroupLimits& limits,
                                      std::string name, bool use_kill) {
  CgroupLeaf leaf;
  leaf.place_ = std::move(place);
  leaf.name_ = std::move(name);
  const std::string path = leaf.path();
  if (mkdirat(leaf.place_->dir(), leaf.name_.c_str(), 0755) != 0) return CgroupError(errno, path);
  leaf.made_ = true;
  leaf.dir_ =
      AboveStdio(Fd(openat(leaf.place_->dir(), leaf.name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  const Fd& dir = leaf.dir_;
  if (!dir.valid()) return CgroupError(errno, path);
  const auto file = [&](const char* entry, int flags) {
    return AboveStdio(Fd(openat(dir.get(), entry, flags | O_CLOEXEC)));
  };
  leaf.procs_ = file("cgroup.procs", O_RDWR);
  if (!leaf.procs_.valid()) return CgroupError(errno, path + "/cgroup.procs");
  leaf.events_ = file("cgroup.events", O_RDONLY);
  if (!leaf.events_.valid()) return CgroupError(errno, path + "/cgroup.events");
  if (use_kill) leaf.kill_ = file("cgroup.kill", O_WRONLY);
  if (use_kill && !leaf.kill_.valid() && errno != ENOENT) return CgroupError(errno, path + "/cgroup.kill");
  // Only for where there is no cgroup.kill.
  if (!leaf.kill_.valid()) leaf.freeze_ = file("cgroup.freeze", O_WRONLY);
  TRY(ApplyLimits(dir.get(), path, limits));
  if (limits.processes) leaf.pids_events_ = file("pids.events", O_RDONLY);
  if (limits.memory_bytes) leaf.memory_events_ = file("memory.events", O_RDONLY);
  if (limits.processes && !leaf.pids_events_.valid()) return CgroupError(errno, path + "/pids.events");
  if (limits.memory_bytes && !leaf.memory_events_.valid()) return CgroupError(errno, path + "/memory.events");
  return leaf;
}

LimitHits CgroupLeaf::Hits() const {
  LimitHits hits;
  if (pids_events_.valid()) hits.processes = EventCount(ReadWhole(pids_events_.get()), "max");
  if (memory_events_.valid()) hits.memory = EventCount(ReadWhole(memory_events_.get()), "oom");
  return hits;
}

CgroupLeaf::~CgroupLeaf() {
  if (place_ != nullptr && made_) (void)Remove();
}

Result<void> CgroupLeaf::Kill() const {
  return KillMembers({procs_.get(), kill_.get(), freeze_.get()}, path());
}

Result<bool> CgroupLeaf::Empty() const {
  errno = 0;
  const std::string events = ReadWhole(events_.get());
  // Removed by the keeper: the kernel removes only what is empty. Any other trouble proves nothing.
  if (events.empty() && errno == ENODEV) return true;
  if (events.empty()) return CgroupError(errno == 0 ? EIO : errno, path());
  return events.find("populated 0") != std::string::npos;
}

std::vector<pid_t> CgroupLeaf::Members() const { return MembersOf(procs_.get()); }

Result<void> CgroupLeaf::TryRemove() {
  for (const bool again : {true, false}) {
    if (unlinkat(place_->dir(), name_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
      made_ = false;
      return {};
    }
    if (errno != EBUSY || !again) break;
    RemoveCgroupsIn(place_->dir(), name_.c_str());
  }
  return CgroupError(errno, path());
}

Result<void> CgroupLeaf::Remove() {
  for (int i = 0;; ++i) {
    auto removed = TryRemove();
    if (removed.ok() || removed.error().err != EBUSY || i == kRemoveAttempts) return removed;
    const auto empty = Empty();
    if (!empty.ok() || !empty.value()) return removed;
    Pause();
  }
}

}  // namespace spty
