#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "base/eintr.h"
#include "track/cgroup.h"
#include "track/cgroup_members_linux.h"
#include "track/process_ref.h"

namespace spty {
namespace {

constexpr char kPrefix[] = "sandboxed-pty-";
constexpr int kRemoveAttempts = 50;

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

std::optional<Mount> FindMount(const std::string& mountinfo) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    const size_t separator = line.find(" - cgroup2 ");
    if (separator == std::string::npos) continue;
    std::istringstream fields(line);
    std::string id, parent, device;
    Mount mount;
    if (fields >> id >> parent >> device >> mount.root >> mount.point) {
      mount.root = Unescape(mount.root);
      mount.point = Unescape(mount.point);
      return mount;
    }
  }
  return std::nullopt;
}

// "0::/user.slice/..." of /proc/self/cgroup.
std::optional<std::string> OwnPath(const std::string& cgroup) {
  std::istringstream lines(cgroup);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return std::nullopt;
}

std::string ReadProcFile(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Names of this copy of the library: a process may have loaded two, and each removes its own by name.
std::string OwnPrefix() {
  static const std::string prefix = [] {
    uint32_t copy = 0;
    // Without the kernel's randomness the time does: two copies are not loaded in the same nanosecond. No
    // address: the session can read the name.
    if (getrandom(&copy, sizeof copy, GRND_NONBLOCK) != ssize_t{sizeof copy}) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      copy = static_cast<uint32_t>(now.tv_nsec);
    }
    char digits[9];
    snprintf(digits, sizeof digits, "%08x", copy);
    return kPrefix + OwnerTag() + "-" + digits + "-";
  }();
  return prefix;
}

// A leaf can be made below `path`, and we may move processes from our own cgroup into it: for that the kernel
// wants the right to write cgroup.procs of the nearest common ancestor, which is `path` itself.
Result<void> TryPlace(int dir, const std::string& path) {
  if (faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) != 0) return CgroupError(errno, path);
  const std::string name = OwnPrefix() + "try";
  if (mkdirat(dir, name.c_str(), 0755) != 0 && errno != EEXIST) return CgroupError(errno, path);
  if (unlinkat(dir, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return CgroupError(errno, path);
  return {};
}

void Pause() {
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
}

bool Populated(int events) { return ReadWhole(events).find("populated 1") != std::string::npos; }

// Removes the cgroups in this one, as far as nobody is in them: those of a session inside the session.
void RemoveInside(int place, const char* name, int depth = 0) {
  constexpr int kDeepest = 32;
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  const int number = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDir> dir(number >= 0 ? fdopendir(number) : nullptr);
  while (const dirent* entry = dir == nullptr ? nullptr : readdir(dir.get())) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    if (unlinkat(dirfd(dir.get()), entry->d_name, AT_REMOVEDIR) == 0 || depth == kDeepest) continue;
    RemoveInside(dirfd(dir.get()), entry->d_name, depth + 1);
    (void)unlinkat(dirfd(dir.get()), entry->d_name, AT_REMOVEDIR);
  }
}

// Ends and removes the leaf of an owner that is gone.
bool RemoveOrphan(int place, const char* name) {
  const Fd dir(openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!dir.valid()) return false;
  const Fd events(openat(dir.get(), "cgroup.events", O_RDONLY | O_CLOEXEC));
  if (events.valid() && Populated(events.get())) {
    const Fd procs(openat(dir.get(), "cgroup.procs", O_RDONLY | O_CLOEXEC));
    const Fd kill_fd(openat(dir.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
    const Fd freeze(openat(dir.get(), "cgroup.freeze", O_WRONLY | O_CLOEXEC));
    if (!KillMembers({procs.get(), kill_fd.get(), freeze.get()}, name).ok()) return false;
    for (int i = 0; i < kRemoveAttempts && Populated(events.get()); ++i) Pause();
  }
  RemoveInside(place, name);
  return unlinkat(place, name, AT_REMOVEDIR) == 0;
}

}  // namespace

Result<std::shared_ptr<const CgroupPlace>> CgroupPlace::Find(const std::string& mountinfo,
                                                             const std::string& own,
                                                             const CgroupLimits& limits) {
  const auto mount = FindMount(mountinfo);
  if (!mount) return CgroupError(ENOENT, "no cgroup v2 hierarchy is mounted");
  auto inside = OwnPath(own);
  if (!inside) return CgroupError(ENOENT, "this process is in no cgroup v2");
  // A container's mount shows a part of the hierarchy as its root.
  if (mount->root != "/" && (*inside + "/").starts_with(mount->root + "/"))
    inside = inside->substr(mount->root.size());
  Error last = CgroupError(EACCES, mount->point);
  for (std::string path = *inside;; path = path.substr(0, path.rfind('/'))) {
    while (path.ends_with('/')) path.pop_back();
    const std::string full = mount->point + path;
    Fd dir(open(full.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (dir.valid()) {
      auto tried = TryPlace(dir.get(), full);
      if (tried.ok()) tried = OfferControllers(dir.get(), full, limits);
      if (tried.ok()) {
        dir = AboveStdio(std::move(dir));
        if (!dir.valid()) return CgroupError(errno, full);
        auto place = std::make_shared<const CgroupPlace>(std::move(dir), full);
        place->Sweep();
        return std::shared_ptr<const CgroupPlace>(place);
      }
      // A place that lacks only a controller says more than one that is not ours.
      if (last.err != ENOTSUP) last = tried.error();
    } else if (last.err != ENOTSUP) {
      last = CgroupError(errno, full);
    }
    if (path.empty()) return last;
  }
}

Result<std::shared_ptr<const CgroupPlace>> CgroupPlace::Own(const CgroupLimits& limits) {
  static std::mutex mutex;
  static std::map<int, Result<std::shared_ptr<const CgroupPlace>>> known;
  const int key = (limits.processes ? 1 : 0) | (limits.memory_bytes ? 2 : 0) | (limits.cpu_percent ? 4 : 0);
  std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  auto found = Find(ReadProcFile("/proc/self/mountinfo"), ReadProcFile("/proc/self/cgroup"), limits);
  // A shortage of the moment is no reason to do without for ever.
  const int err = found.ok() ? 0 : found.error().err;
  const bool lasting =
      err == 0 || err == ENOENT || err == EACCES || err == EPERM || err == EROFS || err == ENOTSUP;
  if (lasting) known.emplace(key, found);
  return found;
}

size_t CgroupPlace::Sweep() const {
  const Fd copy(openat(dir_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  const int number = copy.valid() ? dup(copy.get()) : -1;
  const std::unique_ptr<DIR, CloseDir> dir(number >= 0 ? fdopendir(number) : nullptr);
  size_t removed = 0;
  while (const dirent* entry = dir == nullptr ? nullptr : readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    if (!OwnerLives(name.substr(sizeof kPrefix - 1)))
      removed += RemoveOrphan(dir_.get(), name.c_str()) ? 1 : 0;
  }
  return removed;
}

std::string CgroupLeaf::NewName() {
  static std::atomic<uint64_t> next{1};
  return OwnPrefix() + std::to_string(next++);
}

Result<CgroupLeaf> CgroupLeaf::Create(std::shared_ptr<const CgroupPlace> place, const CgroupLimits& limits,
                                      std::string name) {
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
  leaf.kill_ = file("cgroup.kill", O_WRONLY);
  if (!leaf.kill_.valid() && errno != ENOENT) return CgroupError(errno, path + "/cgroup.kill");
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

Result<void> CgroupLeaf::Remove() {
  for (int i = 0; i < kRemoveAttempts; ++i) {
    if (unlinkat(place_->dir(), name_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
      made_ = false;
      return {};
    }
    if (errno != EBUSY) break;
    const auto empty = Empty();
    if (!empty.ok() || !empty.value()) {
      errno = EBUSY;
      break;
    }
    RemoveInside(place_->dir(), name_.c_str());
    Pause();
  }
  return CgroupError(errno, path());
}

}  // namespace spty
