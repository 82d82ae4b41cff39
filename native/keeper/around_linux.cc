#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel_interface.h"
#include "keeper/around.h"
#include "track/directory.h"
#include "uapi/landlock.h"

namespace spty {
namespace {

// Nobody protects anything deeper than that; each level has a buffer on the stack.
constexpr int kDeepest = 200;
// How many entries between two looks at the clock.
constexpr unsigned kBetweenLooks = 64;

class RuleMaker {
 public:
  RuleMaker(int ruleset, const Around& around, const Progress& progress)
      : ruleset_(ruleset), around_(around), progress_(progress), told_(Seconds()) {}

  int Run() {
    const size_t length = strlen(around_.path);
    if (length >= sizeof path_) return ENAMETOOLONG;
    memcpy(path_, around_.path, length + 1);
    AddEntries(around_.directory, wire::kAsGranted, 0);
    return err_;
  }

  // Where it ended.
  const char* path() const { return path_; }

 private:
  struct Directory {
    RuleMaker* maker;
    int fd;
    wire::AroundRight right;
    int depth;
  };

  // path_ is the directory's, and is so again afterwards, unless something went wrong.
  void AddEntries(int directory, wire::AroundRight right, int depth) {
    const Fd readable(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // One that we may not list ourselves: nothing in it is granted.
    if (!readable.valid() && errno == EACCES) return;
    if (!readable.valid()) return Fail(errno);
    if (depth == kDeepest) return Fail(ENAMETOOLONG);
    Directory here{this, readable.get(), right, depth};
    const auto visit = [](void* context, const char* name, EntryKind kind) {
      const auto* listed = static_cast<const Directory*>(context);
      RuleMaker* maker = listed->maker;
      if (maker->err_ == 0) maker->TellProgress();
      if (maker->err_ == 0 && kind != EntryKind::kLink) maker->AddEntry(*listed, name, kind);
    };
    if (int err = ListDirectory(readable.get(), visit, &here); err != 0) Fail(err);
  }

  void AddEntry(const Directory& directory, const char* name, EntryKind kind) {
    const size_t length = strlen(path_);
    if (!Append(length, name)) return Fail(ENAMETOOLONG);
    const size_t own_length = strlen(path_);
    wire::AroundRight right = directory.right;
    bool closed = false;
    bool holds_some = false;
    for (uint32_t i = 0; i < around_.hole_count; ++i) {
      const char* hole = around_.holes[i] + 1;
      if (!IsAtOrBelow(hole, path_)) continue;
      if (hole[own_length] != '\0') {
        holds_some = true;
      } else if (around_.holes[i][0] == wire::kReadOnly) {
        right = wire::kForReading;
      } else {
        closed = true;
      }
    }
    if (!closed) AddOpened(directory, name, kind, right, holds_some);
    if (err_ == 0) path_[length] = '\0';
  }

  // What is listed as a directory is opened as one; all else gets the rights of a file, which the kernel
  // takes for a directory as well, should it have become one since.
  void AddOpened(const Directory& directory, const char* name, EntryKind kind, wire::AroundRight right,
                 bool holds_some) {
    bool is_directory = kind == EntryKind::kDirectory;
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_directory ? O_DIRECTORY : 0);
    const Fd fd(openat(directory.fd, name, flags));
    // Gone, or something else, since it was listed.
    if (!fd.valid() && (errno == ENOENT || errno == ENOTDIR)) return;
    if (!fd.valid()) return Fail(errno);
    if (kind == EntryKind::kUnknown || (holds_some && !is_directory)) {
      struct stat info;
      if (fstat(fd.get(), &info) == -1) return Fail(errno);
      if (S_ISLNK(info.st_mode)) return;
      is_directory = S_ISDIR(info.st_mode);
      // What was no directory a moment ago: a rule for it would count for what is protected in it.
      if (is_directory && kind != EntryKind::kUnknown) return;
    }
    if (holds_some && is_directory) return AddEntries(fd.get(), right, directory.depth + 1);
    AddRule(fd.get(), right, is_directory);
  }

  void AddRule(int fd, wire::AroundRight right, bool is_directory) {
    const auto rights_for = [&](uint32_t kind) { return around_.rights[kind + (is_directory ? 0 : 1)]; };
    landlock::PathBeneathAttr rule;
    rule.allowed = rights_for(right);
    if (right == wire::kAsGranted && rule.allowed != rights_for(wire::kOfKernel) &&
        IsKernelInterface(fd, path_))
      rule.allowed = rights_for(wire::kOfKernel);
    rule.parent_fd = fd;
    if (rule.allowed == 0) return;
    if (syscall(landlock::kAddRule, ruleset_, landlock::kPathBeneath, &rule, 0U) == -1) Fail(errno);
  }

  static time_t Seconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);  // cannot fail for this clock
    return now.tv_sec;
  }

  void TellProgress() {
    if (++entries_ % kBetweenLooks != 0) return;
    const time_t now = Seconds();
    if (now == told_) return;
    told_ = now;
    if (int err = progress_.tell(progress_.context); err != 0) Fail(err);
  }

  // The first one counts.
  void Fail(int err) {
    if (err_ == 0) err_ = err;
  }

  bool Append(size_t length, const char* name) {
    const size_t size = strlen(name);
    const size_t slash = path_[length - 1] == '/' ? 0 : 1;
    if (length + slash + size >= sizeof path_) return false;
    path_[length] = '/';
    memcpy(path_ + length + slash, name, size + 1);
    return true;
  }

  int ruleset_;
  const Around& around_;
  const Progress& progress_;
  time_t told_;
  unsigned entries_ = 0;
  int err_ = 0;
  char path_[PATH_MAX];
};

// As much of the end as there is room for, and whole characters.
void CopyEnd(const char* path, char* into, size_t room) {
  constexpr char kDots[] = "...";
  constexpr size_t kDotCount = sizeof kDots - 1;
  const size_t length = strlen(path);
  if (length < room) {
    memcpy(into, path, length + 1);
    return;
  }
  const char* end = path + length - (room - 1 - kDotCount);
  while ((static_cast<unsigned char>(*end) & 0xc0) == 0x80) ++end;
  memcpy(into, kDots, kDotCount);
  memcpy(into + kDotCount, end, strlen(end) + 1);
}

}  // namespace

int AddRulesAround(int ruleset, const Around& around, const Progress& progress, char* failed, size_t room) {
  RuleMaker maker(ruleset, around, progress);
  const int err = maker.Run();
  if (err != 0 && room > 3) CopyEnd(maker.path(), failed, room);
  return err;
}

}  // namespace spty
