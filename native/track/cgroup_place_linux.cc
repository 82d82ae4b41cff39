#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <sstream>

#include "base/block_signals.h"
#include "track/cgroup.h"
#include "track/cgroup_members_linux.h"
#include "track/process_ref.h"
#include "track/remove_tree.h"

namespace spty {
namespace {

// For all that are swept together.
constexpr auto kSweepPatience = std::chrono::milliseconds(500);

Error CgroupError(int err, const std::string& path) { return {Stage::kCgroup, err, path}; }

// Where the unified hierarchy is mounted, and which part of it that mount shows. Octal escapes as in fstab.
struct Mount {
  std::string point;
  std::string root;
};

std::string Unescape(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// In the order of mounting: there may be more than one, and not each shows where we are.
std::vector<Mount> FindMounts(const std::string& mountinfo) {
  std::vector<Mount> found;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string id, parent, device;
    Mount mount;
    if (fields >> id >> parent >> device >> mount.root >> mount.point)
      found.push_back({Unescape(mount.point), Unescape(mount.root)});
  }
  return found;
}

// "0::/user.slice/..." of /proc/self/cgroup.
std::optional<std::string> OwnPath(const std::string& cgroup) {
  std::istringstream lines(cgroup);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return std::nullopt;
}

Result<std::string> ReadProcFile(const char* path) {
  const Fd fd(open(path, O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return CgroupError(errno, path);
  return ReadWhole(fd.get());
}

// Whether processes can be in it at all: not below a cgroup that hands controllers down and has processes
// itself, which is "domain invalid", nor among threads.
Result<void> TakesProcesses(int dir, const std::string& name, const std::string& path) {
  const Fd fd(openat(dir, (name + "/cgroup.type").c_str(), O_RDONLY | O_CLOEXEC));
  // ENOENT: before Linux 4.14, where there is nothing else.
  if (!fd.valid()) return errno == ENOENT ? Result<void>() : CgroupError(errno, path);
  const std::string type = ReadWhole(fd.get());
  const bool takes = type.starts_with("domain") && !type.starts_with("domain invalid");
  return takes ? Result<void>() : CgroupError(EOPNOTSUPP, path);
}

// A leaf can be made below `path`, and we may move processes from our own cgroup into it: for that the kernel
// wants the right to write cgroup.procs of the nearest common ancestor, which is `path` itself.
Result<void> TryPlace(int dir, const std::string& path) {
  if (faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) != 0) return CgroupError(errno, path);
  const std::string name = OwnCgroupPrefix() + "try";
  if (mkdirat(dir, name.c_str(), 0755) != 0 && errno != EEXIST) return CgroupError(errno, path);
  auto usable = TakesProcesses(dir, name, path);
  if (unlinkat(dir, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return CgroupError(errno, path);
  return usable;
}

// The leaf of an owner that is gone.
class Orphan {
 public:
  Orphan(int place, std::string name) : place_(place), name_(std::move(name)) {
    const Fd dir(openat(place, name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!dir.valid()) return;
    events_ = Fd(openat(dir.get(), "cgroup.events", O_RDONLY | O_CLOEXEC));
    procs_ = Fd(openat(dir.get(), "cgroup.procs", O_RDONLY | O_CLOEXEC));
    kill_ = Fd(openat(dir.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
    if (!kill_.valid()) freeze_ = Fd(openat(dir.get(), "cgroup.freeze", O_WRONLY | O_CLOEXEC));
  }

  // What cannot be killed is not removed either.
  void Kill() const {
    if (Populated()) (void)KillMembers({procs_.get(), kill_.get(), freeze_.get()}, name_);
  }
  bool TryRemove() const {
    if (Populated()) return false;
    RemoveCgroupsIn(place_, name_.c_str());
    return unlinkat(place_, name_.c_str(), AT_REMOVEDIR) == 0;
  }

 private:
  bool Populated() const {
    return events_.valid() && ReadWhole(events_.get()).find("populated 1") != std::string::npos;
  }

  int place_;
  std::string name_;
  Fd events_;
  Fd procs_;
  Fd kill_;
  Fd freeze_;
};

// The nearest place at or above our own cgroup, as this mount shows it.
Result<std::shared_ptr<const CgroupPlace>> FindIn(const Mount& mount, std::string inside,
                                                  const CgroupLimits& limits) {
  // A container's mount shows a part of the hierarchy as its root.
  if (mount.root != "/" && (inside + "/").starts_with(mount.root + "/"))
    inside = inside.substr(mount.root.size());
  Error last = CgroupError(EACCES, mount.point);
  for (std::string path = inside;; path = path.substr(0, path.rfind('/'))) {
    while (path.ends_with('/')) path.pop_back();
    const std::string full = mount.point + path;
    Fd dir(open(full.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (dir.valid()) {
      auto tried = TryPlace(dir.get(), full);
      if (tried.ok()) tried = OfferControllers(dir.get(), full, limits);
      if (tried.ok()) {
        dir = AboveStdio(std::move(dir));
        if (!dir.valid()) return CgroupError(errno, full);
        return std::shared_ptr<const CgroupPlace>(std::make_shared<const CgroupPlace>(std::move(dir), full));
      }
      // A place that lacks only a controller says more than one that is not ours.
      if (last.err != ENOTSUP) last = tried.error();
    } else if (last.err != ENOTSUP) {
      last = CgroupError(errno, full);
    }
    if (path.empty()) return last;
  }
}

// On a thread of its own: those who are being killed take their time, and nobody is to wait for them. Where
// there is no thread to be had, the next host does it.
void SweepInBackground(std::shared_ptr<const CgroupPlace> place) {
  const BlockAllSignals block;
  const auto run = [](void* data) -> void* {
    const std::unique_ptr<std::shared_ptr<const CgroupPlace>> own(
        static_cast<std::shared_ptr<const CgroupPlace>*>(data));
    (*own)->Sweep();
    return nullptr;
  };
  auto held = std::make_unique<std::shared_ptr<const CgroupPlace>>(std::move(place));
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run, held.get()) != 0) return;
  (void)held.release();
  pthread_detach(thread);
}

}  // namespace

Result<std::shared_ptr<const CgroupPlace>> CgroupPlace::Find(const std::string& mountinfo,
                                                             const std::string& own,
                                                             const CgroupLimits& limits) {
  const std::vector<Mount> mounts = FindMounts(mountinfo);
  if (mounts.empty()) return CgroupError(ENOENT, "no cgroup v2 hierarchy is mounted");
  const auto inside = OwnPath(own);
  if (!inside) return CgroupError(ENOENT, "this process is in no cgroup v2");
  std::optional<Error> first;
  for (const Mount& mount : mounts) {
    auto found = FindIn(mount, *inside, limits);
    if (found.ok()) return found;
    if (!first) first = found.error();
  }
  return *first;
}

Result<std::shared_ptr<const CgroupPlace>> CgroupPlace::Own(const CgroupLimits& limits) {
  static std::mutex mutex;
  static std::map<int, Result<std::shared_ptr<const CgroupPlace>>> known;
  const int key = (limits.processes ? 1 : 0) | (limits.memory_bytes ? 2 : 0) | (limits.cpu_percent ? 4 : 0);
  std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) {
    if (!found->second.ok() || found->second.value()->Exists()) return found->second;
    known.erase(found);
  }
  TRY_ASSIGN(const std::string mountinfo, ReadProcFile("/proc/self/mountinfo"));
  TRY_ASSIGN(const std::string own, ReadProcFile("/proc/self/cgroup"));
  auto found = Find(mountinfo, own, limits);
  // A shortage of the moment is no reason to do without for ever.
  const int err = found.ok() ? 0 : found.error().err;
  const bool lasting =
      err == 0 || err == ENOENT || err == EACCES || err == EPERM || err == EROFS || err == ENOTSUP;
  if (lasting) known.emplace(key, found);
  if (found.ok() && !found.value()->Orphans().empty()) SweepInBackground(found.value());
  return found;
}

bool CgroupPlace::Exists() const { return faccessat(dir_.get(), "cgroup.procs", F_OK, 0) == 0; }

std::vector<std::string> CgroupPlace::Orphans() const {
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  const int number = openat(dir_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDir> dir(number >= 0 ? fdopendir(number) : nullptr);
  std::vector<std::string> orphans;
  while (const dirent* entry = dir == nullptr ? nullptr : readdir(dir.get())) {
    std::string name = entry->d_name;
    if (name.starts_with(kCgroupPrefix) && !OwnerLives(name.substr(sizeof kCgroupPrefix - 1)))
      orphans.push_back(std::move(name));
  }
  return orphans;
}

size_t CgroupPlace::Sweep() const {
  std::vector<Orphan> orphans;
  for (std::string& name : Orphans()) orphans.emplace_back(dir_.get(), std::move(name));
  // All are killed before any is waited for.
  for (const Orphan& orphan : orphans) orphan.Kill();
  size_t removed = 0;
  for (const auto last = std::chrono::steady_clock::now() + kSweepPatience;;) {
    removed += std::erase_if(orphans, [](const Orphan& orphan) { return orphan.TryRemove(); });
    if (orphans.empty() || std::chrono::steady_clock::now() >= last) return removed;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    for (const Orphan& orphan : orphans) orphan.Kill();
  }
}

}  // namespace spty
