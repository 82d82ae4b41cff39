#include "keeper/gate_place_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/eintr.h"
#include "keeper/gate_text_linux.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

constexpr int kMaxTurns = 40;  // links and ".."; the kernel's own limit for links
constexpr long kProcMagic = 0x9fa0;

Fd OpenRoot() { return Fd(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

// Whether no process of the session can have put a link there, or exchange what is there.
bool IsBeyondTheSession(const Fd& directory) {
  struct stat info;
  struct statfs system;
  if (fstat(directory.get(), &info) == -1 || fstatfs(directory.get(), &system) == -1) return false;
  if (static_cast<long>(system.f_type) == kProcMagic || info.st_uid == geteuid()) return false;
  return faccessat(directory.get(), ".", W_OK, 0) == -1;
}

// Whether a subdirectory stays where it is although the session may write here, as in /tmp: only its owner
// can rename it, and to bring it here from elsewhere would have taken the right to write to it.
bool IsStickyFor(const Fd& directory, const Fd& next) {
  struct stat info;
  if (fstat(directory.get(), &info) == -1) return false;
  return (info.st_mode & S_ISVTX) != 0 && info.st_uid != geteuid() && IsBeyondTheSession(next);
}

// What is left of a path, with the links met so far put in front.
class Remainder {
 public:
  bool Set(const char* text) {
    size_ = strlen(text);
    if (size_ >= sizeof text_) return false;
    memcpy(text_, text, size_ + 1);
    at_ = 0;
    return true;
  }

  // The next component, or null at the end or if it is too long to be one (then `failed`).
  const char* Next() {
    while (text_[at_] == '/') ++at_;
    size_t length = 0;
    while (text_[at_ + length] != '/' && text_[at_ + length] != '\0') ++length;
    failed = length > NAME_MAX;
    if (length == 0 || failed) return nullptr;
    memcpy(component_, text_ + at_, length);
    component_[length] = '\0';
    at_ += length;
    return component_;
  }

  bool PutInFront(const char* text, size_t length) {
    size_t rest = size_ - at_;
    if (length + rest + 1 > sizeof text_) return false;
    memmove(text_ + length, text_ + at_, rest + 1);
    memcpy(text_, text, length);
    size_ = length + rest;
    at_ = 0;
    return true;
  }

  bool failed = false;

 private:
  char text_[PATH_MAX];
  size_t size_ = 0;
  size_t at_ = 0;
  char component_[NAME_MAX + 1];
};

bool MountOf(const Fd& file, uint64_t* mount) {
  uapi::Statx info{};
  if (syscall(SYS_statx, file.get(), "", AT_EMPTY_PATH, uapi::kStatxMountId, &info) == -1) return false;
  *mount = info.mount;
  return (info.mask & uapi::kStatxMountId) != 0;
}

// A line of mountinfo begins "ID PARENT MAJOR:MINOR ".
bool ReadMountLine(const char* line, uint64_t mount, uint32_t* device) {
  uint64_t id = 0;
  uint64_t parent = 0;
  uint64_t high = 0;
  uint64_t low = 0;
  if (!ReadNumber(&line, &id) || id != mount || *line++ != ' ') return false;
  if (!ReadNumber(&line, &parent) || *line++ != ' ') return false;
  if (!ReadNumber(&line, &high) || *line++ != ':' || !ReadNumber(&line, &low)) return false;
  *device = static_cast<uint32_t>(high) << 20 | static_cast<uint32_t>(low);
  return true;
}

// The way from the root to a place, one component after the other, each opened without following it.
class Walk {
 public:
  explicit Walk(BoundPlace* place) : place_(place) { Restart(); }

  bool failed() const { return !at_.valid(); }
  Fd Take() { return static_cast<Fd&&>(at_); }

  // One component further; `rest` gets what has to be walked instead if that is a link or "..".
  bool Step(const char* component, Remainder* rest) {
    if (strcmp(component, ".") == 0) return true;
    if (strcmp(component, "..") == 0) return GoUp(rest);
    Fd next(openat(at_.get(), component, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info;
    if (!next.valid() || fstat(next.get(), &info) == -1) return false;
    bool here = beyond_ && IsBeyondTheSession(at_);
    if (S_ISLNK(info.st_mode)) return here && Follow(next, rest);
    beyond_ = here || (beyond_ && IsStickyFor(at_, next));
    size_t length = strlen(component);
    if (size_ + 1 + length >= sizeof place_->path) return false;
    place_->path[size_++] = '/';
    memcpy(place_->path + size_, component, length + 1);
    size_ += length;
    at_ = static_cast<Fd&&>(next);
    return true;
  }

 private:
  void Restart() {
    at_ = OpenRoot();
    beyond_ = true;
    size_ = 0;
    place_->path[0] = '\0';
  }

  // By the text, and then again from the root: the directory's own ".." may have become another one.
  bool GoUp(Remainder* rest) {
    while (size_ > 0 && place_->path[--size_] != '/') {
    }
    return Redirect(place_->path, size_, "", 0, rest);
  }

  bool Follow(const Fd& link, Remainder* rest) {
    char target[PATH_MAX];
    ssize_t size = readlinkat(link.get(), "", target, sizeof target);
    if (size <= 0) return false;
    size_t place_size = target[0] == '/' ? 0 : size_;
    return Redirect(place_->path, place_size, target, static_cast<size_t>(size), rest);
  }

  // Goes on from the root with `place`, a slash, `text` and what is left.
  bool Redirect(const char* place, size_t place_size, const char* text, size_t size, Remainder* rest) {
    if (++turns_ > kMaxTurns) return false;
    if (!rest->PutInFront(text, size) || !rest->PutInFront("/", 1) || !rest->PutInFront(place, place_size))
      return false;
    Restart();
    return !failed();
  }

  BoundPlace* place_;
  size_t size_ = 0;
  Fd at_;
  bool beyond_ = true;  // the session can have changed nothing on the way to at_
  int turns_ = 0;
};

}  // namespace

Fd OpenBoundName(const char* name, BoundPlace* place) {
  Remainder rest;
  if (name[0] != '/' || !rest.Set(name)) return Fd();
  Walk walk(place);
  while (!walk.failed()) {
    const char* component = rest.Next();
    if (component == nullptr) return rest.failed ? Fd() : walk.Take();
    if (!walk.Step(component, &rest)) return Fd();
  }
  return Fd();
}

bool IsAtOrBelow(const char* path, const char* base, bool at) {
  size_t length = strlen(base);
  if (length == 0 || strncmp(path, base, length) != 0) return false;
  if (path[length] == '\0') return at;
  return path[length] == '/' || base[length - 1] == '/';
}

namespace {

// Whether the place lies in something closed that lies in what the rule opens.
bool IsClosed(const char* path, const char* rule, const GateRules& rules) {
  for (char* const* hole = rules.closed; hole != nullptr && *hole != nullptr; ++hole) {
    if (IsAtOrBelow(path, *hole, true) && IsAtOrBelow(*hole, rule, false)) return true;
  }
  return false;
}

}  // namespace

bool IsWithin(const BoundPlace& place, const GateRules& rules) {
  for (char* const* rule = rules.directories; rule != nullptr && *rule != nullptr; ++rule) {
    if (IsAtOrBelow(place.path, *rule, false) && !IsClosed(place.path, *rule, rules)) return true;
  }
  for (char* const* rule = rules.sockets; rule != nullptr && *rule != nullptr; ++rule) {
    if (IsAtOrBelow(place.path, *rule, true) && !IsClosed(place.path, *rule, rules)) return true;
  }
  return false;
}

bool FindSuperblock(const Fd& file, uint32_t* device) {
  uint64_t mount = 0;
  if (!MountOf(file, &mount)) return false;
  Fd table(open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (!table.valid()) return false;
  char buffer[2048];
  char line[64];  // only its beginning matters
  size_t length = 0;
  for (;;) {
    ssize_t size = RetryEintr([&] { return read(table.get(), buffer, sizeof buffer); });
    if (size <= 0) return false;
    for (ssize_t i = 0; i < size; ++i) {
      if (buffer[i] != '\n') {
        if (length < sizeof line - 1) line[length++] = buffer[i];
        continue;
      }
      line[length] = '\0';
      length = 0;
      if (ReadMountLine(line, mount, device)) return true;
    }
  }
}

bool IsSameDirectory(const Fd& one, const Fd& other) {
  struct stat a;
  struct stat b;
  uint64_t mount_a = 0;
  uint64_t mount_b = 0;
  if (fstat(one.get(), &a) == -1 || fstat(other.get(), &b) == -1) return false;
  if (!MountOf(one, &mount_a) || !MountOf(other, &mount_b)) return false;
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && mount_a == mount_b;
}

}  // namespace spty
