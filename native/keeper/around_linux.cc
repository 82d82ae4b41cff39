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
#include "keeper/around_table.h"
#include "keeper/place_order.h"
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
  RuleMaker(int ruleset, Around* first, const Progress& progress)
      : ruleset_(ruleset),
        first_(first),
        progress_(progress),
        told_(Seconds()),
        protected_(MostFiles(first)),
        ways_(MostFiles(first)) {
    path_[0] = '\0';
  }

  int Run() {
    for (const Around* around = first_; around != nullptr; around = around->next) RememberFiles(*around);
    for (const Around* around = first_; around != nullptr && err_ == 0; around = around->next) Run(*around);
    return err_;
  }

  // Where it ended.
  const char* path() const { return missing_ != nullptr ? missing_ : path_; }

 private:
  // Neighbours in the order of ComparePlaces.
  struct Places {
    ProtectedPlace* first;
    ProtectedPlace* last;
    ProtectedPlace* begin() const { return first; }
    ProtectedPlace* end() const { return last; }
    bool empty() const { return first == last; }
  };

  struct Directory {
    RuleMaker* maker;
    int fd;
    wire::AroundRight right;
    int depth;
    Places holes;   // in it
    size_t length;  // of its name
    size_t start;   // of the names in it
  };

  struct Entry {
    const char* name;
    EntryKind kind;
    wire::AroundRight right;
    bool closed;
    ProtectedPlace* itself;  // if it is one
    Places holes;            // in it
    size_t length;           // of path_
  };

  static Places Holes(const Around& around) { return {around.holes, around.holes + around.hole_count}; }

  // Tells `visit` of the directories above the protected places: each is the beginning of a path. Those above
  // the granted one as well: what is mounted in one of them belongs to whoever is granted that one.
  template <typename Visit>
  static void ForEachWay(const Around& around, Visit visit) {
    const char* before = "";
    for (const ProtectedPlace& hole : Holes(around)) {
      size_t at = 0;
      while (hole.path[at] != '\0' && hole.path[at] == before[at]) ++at;
      for (; hole.path[at] != '\0'; ++at) {
        if (hole.path[at] == '/') visit(hole.path, at == 0 ? size_t{1} : at);
      }
      before = hole.path;
    }
  }

  // The protected places, and the directories on the way to them; those before and after an exchange.
  static size_t MostFiles(const Around* around) {
    size_t most = 0;
    for (; around != nullptr; around = around->next) {
      most += 1 + around->hole_count;
      ForEachWay(*around, [&](const char*, size_t) { most += 2; });
    }
    return most;
  }

  // Before any directory is read: what is protected in one must not be granted in another, nor a second mount
  // of a directory that leads to it. Whatever is not there any more is missed later.
  void RememberFiles(const Around& around) {
    for (const ProtectedPlace& hole : Holes(around)) {
      if (hole.what.state == wire::kWasOnlyThere)
        Remember(&protected_, {hole.what.device, hole.what.inode, hole.path, strlen(hole.path)});
    }
    ForEachWay(around, [&](const char* path, size_t length) {
      struct stat info;
      if (LookAt(path, length, &info)) Remember(&ways_, {info.st_dev, info.st_ino, path, length});
    });
  }

  void Run(const Around& around) {
    const size_t length = strlen(around.path);
    if (length >= sizeof path_) return Fail(ENAMETOOLONG);
    memcpy(path_, around.path, length + 1);
    rights_ = around.rights;
    struct stat info;
    if (fstat(around.directory, &info) == -1) return Fail(errno);
    const Places holes = Holes(around);
    if (!holes.empty()) Remember(&ways_, {info.st_dev, info.st_ino, holes.first->path, length});
    AddEntries(around.directory, wire::kAsGranted, 0, holes, length);
    for (const ProtectedPlace& hole : holes) {
      if (err_ != 0) return;
      if (hole.settled || hole.what.state == wire::kByName) continue;
      missing_ = hole.path;
      Fail(ESTALE);
    }
  }

  // path_ is the directory's, and is so again afterwards, unless something went wrong.
  void AddEntries(int directory, wire::AroundRight right, int depth, Places holes, size_t length) {
    const Fd readable(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // One that we may not list ourselves: nothing in it is granted.
    if (!readable.valid() && errno == EACCES) return SettleAll(holes);
    if (!readable.valid()) return Fail(errno);
    if (depth == kDeepest) return Fail(ENAMETOOLONG);
    const size_t start = path_[length - 1] == '/' ? length : length + 1;
    Directory here{this, readable.get(), right, depth, holes, length, start};
    const auto visit = [](void* context, const char* name, EntryKind kind) {
      const auto* listed = static_cast<const Directory*>(context);
      RuleMaker* maker = listed->maker;
      if (maker->err_ == 0) maker->Pause();
      if (maker->err_ == 0 && kind != EntryKind::kLink) maker->AddEntry(*listed, name, kind);
    };
    if (int err = ListDirectory(readable.get(), visit, &here); err != 0) Fail(err);
  }

  void AddEntry(const Directory& directory, const char* name, EntryKind kind) {
    const size_t size = strlen(name);
    if (directory.start + size >= sizeof path_) return Fail(ENAMETOOLONG);
    path_[directory.start - 1] = '/';
    memcpy(path_ + directory.start, name, size + 1);
    Entry entry{name, kind, directory.right, false, nullptr, directory.holes, directory.start + size};
    Narrow(&entry.holes, directory.start, name);
    // The place itself comes before what is in it.
    for (; !entry.holes.empty() && entry.holes.first->path[entry.length] == '\0'; ++entry.holes.first) {
      entry.itself = entry.holes.first;
      if (entry.itself->what.read_only == 0) entry.closed = true;
      entry.right = wire::kForReading;
    }
    if (entry.closed) SettleAll(entry.holes);
    if (!entry.closed || entry.itself->what.state != wire::kByName) AddOpened(directory, entry);
    if (err_ == 0) path_[directory.length] = '\0';
  }

  // To those whose path goes on with this name.
  static void Narrow(Places* places, size_t start, const char* name) {
    const auto first_above = [&](int least) {
      ProtectedPlace* low = places->first;
      ProtectedPlace* high = places->last;
      while (low != high) {
        ProtectedPlace* middle = low + (high - low) / 2;
        if (CompareName(middle->path + start, name) < least) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    };
    places->first = first_above(0);
    places->last = places->empty() ? places->first : first_above(1);
  }

  // What is listed as a directory is opened as one, which mounts what is mounted on demand: but not to look
  // at a protected place, as nobody did that before.
  void AddOpened(const Directory& directory, const Entry& entry) {
    const bool as_directory = entry.kind == EntryKind::kDirectory && entry.itself == nullptr;
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (as_directory ? O_DIRECTORY : 0);
    const Fd fd(openat(directory.fd, entry.name, flags));
    // Gone, or something else, since it was listed.
    if (!fd.valid() && (errno == ENOENT || errno == ENOTDIR)) return;
    if (!fd.valid() && errno == EACCES) return SettleAll(entry);
    if (!fd.valid()) return Fail(errno);
    // Of the very descriptor that the rule is made with: the name may be another file's by now.
    struct stat info;
    if (int err = Examine(fd.get(), entry.kind, &info); err != 0) return Fail(err);
    if (S_ISLNK(info.st_mode)) return;
    if (entry.itself != nullptr && !Settle(entry.itself, info)) return Fail(ESTALE);
    if (entry.closed) return;
    const bool goes_on = !entry.holes.empty() && S_ISDIR(info.st_mode);
    const FileTable::File file{info.st_dev, info.st_ino, goes_on ? entry.holes.first->path : path_,
                               entry.length};
    const FileTable::File* other = protected_.ByAnotherName(file);
    // A second mount of a directory that leads to something protected leads to that a second time.
    if (other == nullptr && !goes_on) other = ways_.ByAnotherName(file);
    if (other != nullptr) return IsThere(*other) ? SettleAll(entry) : Fail(ESTALE);
    if (!goes_on) return AddRule(fd.get(), entry.right, S_ISDIR(info.st_mode));
    Remember(&ways_, file);
    if (err_ == 0) AddEntries(fd.get(), entry.right, directory.depth + 1, entry.holes, entry.length);
  }

  // What is mounted may not answer, or not to us. It is not what somebody has renamed: a mount cannot be.
  static int Examine(int fd, EntryKind kind, struct stat* info) {
    if (fstat(fd, info) == 0) return 0;
    const int err = errno;
    // The beginning of struct statx.
    struct {
      uint32_t mask, block_size;
      uint64_t attributes;
      uint64_t rest[30];
    } known{};
    constexpr uint64_t kMountRoot = 0x2000;
    constexpr int kAsItIs = 0x4000;  // AT_STATX_DONT_SYNC
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | kAsItIs, 0U, &known) == -1) return err;
    if ((known.attributes & kMountRoot) == 0) return err;
    *info = {};
    info->st_mode = kind == EntryKind::kDirectory ? S_IFDIR : S_IFREG;
    return 0;
  }

  // By the beginning of a path.
  static bool LookAt(const char* path, size_t length, struct stat* info) {
    char name[PATH_MAX];
    if (length >= sizeof name) return false;
    memcpy(name, path, length);
    name[length] = '\0';
    return lstat(name, info) == 0;
  }

  // Whether the file is still where it was: then it has two names.
  static bool IsThere(const FileTable::File& file) {
    struct stat info;
    return LookAt(file.path, file.length, &info) && info.st_dev == file.device && info.st_ino == file.inode;
  }

  static bool Settle(ProtectedPlace* hole, const struct stat& info) {
    const wire::AroundHole& what = hole->what;
    hole->settled = what.state == wire::kByName || (what.device == info.st_dev && what.inode == info.st_ino);
    return hole->settled;
  }

  static void SettleAll(Places holes) {
    for (ProtectedPlace& hole : holes) hole.settled = true;
  }

  static void SettleAll(const Entry& entry) {
    if (entry.itself != nullptr) entry.itself->settled = true;
    SettleAll(entry.holes);
  }

  void Remember(FileTable* files, const FileTable::File& file) {
    const int err = files->Add(file);
    // More than there are: they were exchanged all the time.
    if (err != 0) Fail(err == ENOSPC ? ESTALE : err);
  }

  void AddRule(int fd, wire::AroundRight right, bool is_directory) {
    const auto rights_for = [&](uint32_t kind) { return rights_[kind + (is_directory ? 0 : 1)]; };
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

  void Pause() {
    if (++entries_ % kBetweenLooks != 0) return;
    if (int err = progress_.look(progress_.context); err != 0) return Fail(err);
    const time_t now = Seconds();
    if (now == told_) return;
    told_ = now;
    if (int err = progress_.tell(progress_.context); err != 0) Fail(err);
  }

  // The first one counts.
  void Fail(int err) {
    if (err_ == 0) err_ = err;
  }

  int ruleset_;
  Around* const first_;
  const Progress& progress_;
  const uint64_t* rights_ = nullptr;  // of the directory that was granted
  time_t told_;
  unsigned entries_ = 0;
  int err_ = 0;
  const char* missing_ = nullptr;  // a protected place
  FileTable protected_;
  FileTable ways_;  // directories with something protected in them
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

int AddRulesAround(int ruleset, Around* first, const Progress& progress, char* failed, size_t room) {
  RuleMaker maker(ruleset, first, progress);
  const int err = maker.Run();
  if (err != 0 && room > 3) CopyEnd(maker.path(), failed, room);
  return err;
}

}  // namespace spty
