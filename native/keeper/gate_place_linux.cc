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

constexpr int kMaxLinks = 40;  // the kernel's own limit
constexpr long kProcMagic = 0x9fa0;

Fd OpenRoot() { return Fd(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

// Whether no process of the session can have put a link there.
bool IsBeyondTheSession(const Fd& directory) {
  struct stat info;
  struct statfs system;
  if (fstat(directory.get(), &info) == -1 || fstatfs(directory.get(), &system) == -1) return false;
  if (static_cast<long>(system.f_type) == kProcMagic || info.st_uid == geteuid()) return false;
  return faccessat(directory.get(), ".", W_OK, 0) == -1;
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

  bool PutInFront(const Fd& link, bool* absolute) {
    char target[PATH_MAX];
    ssize_t size = readlinkat(link.get(), "", target, sizeof target);
    if (size <= 0) return false;
    size_t length = static_cast<size_t>(size);
    size_t rest = size_ - at_;
    if (length + rest + 1 > sizeof text_) return false;
    memmove(text_ + length, text_ + at_, rest + 1);
    memcpy(text_, target, length);
    size_ = length + rest;
    at_ = 0;
    *absolute = target[0] == '/';
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

}  // namespace

Fd OpenBoundName(const char* name) {
  Remainder path;
  if (name[0] != '/' || !path.Set(name)) return Fd();
  Fd at = OpenRoot();
  int links = 0;
  while (at.valid()) {
    const char* component = path.Next();
    if (component == nullptr) return path.failed ? Fd() : static_cast<Fd&&>(at);
    Fd next(openat(at.get(), component, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info;
    if (!next.valid() || fstat(next.get(), &info) == -1) return Fd();
    if (!S_ISLNK(info.st_mode)) {
      at = static_cast<Fd&&>(next);
      continue;
    }
    bool absolute = false;
    if (++links > kMaxLinks || !IsBeyondTheSession(at) || !path.PutInFront(next, &absolute)) return Fd();
    if (absolute) at = OpenRoot();
  }
  return Fd();
}

bool IsAtOrBelow(const char* path, const char* base, bool at) {
  size_t length = strlen(base);
  if (length == 0 || strncmp(path, base, length) != 0) return false;
  if (path[length] == '\0') return at;
  return path[length] == '/' || base[length - 1] == '/';
}

bool IsWithin(const Fd& file, const GateRules& rules) {
  char path[PATH_MAX];
  ShortPath link("/proc/self/fd/", static_cast<uint64_t>(file.get()), "");
  ssize_t size = readlink(link.text(), path, sizeof path);
  // A path of full size may have been cut off.
  if (size <= 0 || size >= ssize_t{sizeof path} || path[0] != '/') return false;
  path[size] = '\0';
  for (char* const* rule = rules.directories; rule != nullptr && *rule != nullptr; ++rule) {
    if (IsAtOrBelow(path, *rule, false)) return true;
  }
  for (char* const* rule = rules.sockets; rule != nullptr && *rule != nullptr; ++rule) {
    if (IsAtOrBelow(path, *rule, true)) return true;
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
