#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "keeper/remove_tree.h"

namespace spty {
namespace {

// Directories below this depth are moved up before they are emptied: descriptors are not unlimited.
constexpr int kDeepest = 32;

struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[1];
};

bool IsDots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// A directory that we can read and write, whatever its mode was; not a link to one. Invalid with errno set.
Fd OpenDirectory(int dir, const char* name, struct stat* info) {
  Fd place(openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.valid() || fstat(place.get(), info) == -1) return Fd();
  // Through the descriptor: the name could be a link by now.
  char self[32];
  snprintf(self, sizeof self, "/proc/self/fd/%d", place.get());
  if ((info->st_mode & S_IRWXU) != S_IRWXU && chmod(self, S_IRWXU) == -1) return Fd();
  return Fd(openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

class Remover {
 public:
  explicit Remover(int top, uint64_t device) : top_(top), device_(device) {}

  // Empties the directory. Goes on as long as a pass removes something: entries that were moved up come
  // again.
  void Empty(int dir, int depth) {
    while (Pass(dir, depth)) {
    }
  }

  int err() const { return err_; }
  void Remember(int err) {
    if (err_ == 0) err_ = err;
  }

 private:
  bool Pass(int dir, int depth) {
    if (lseek(dir, 0, SEEK_SET) == -1) {
      Remember(errno);
      return false;
    }
    bool removed = false;
    alignas(Entry) char buffer[2048];
    for (;;) {
      long size = syscall(SYS_getdents64, dir, buffer, sizeof buffer);
      if (size == -1) Remember(errno);
      if (size <= 0) return removed;
      for (long at = 0; at < size;) {
        auto* entry = reinterpret_cast<Entry*>(buffer + at);
        at += entry->length;
        if (!IsDots(entry->name)) removed |= RemoveOne(dir, entry->name, depth);
      }
    }
  }

  bool RemoveOne(int dir, const char* name, int depth) {
    if (unlinkat(dir, name, 0) == 0) return true;
    if (errno != EISDIR && errno != EPERM) return Give(errno);
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0) return true;
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES) return Give(errno);
    if (depth >= kDeepest) return MoveUp(dir, name);
    struct stat info;
    Fd below = OpenDirectory(dir, name, &info);
    if (!below.valid()) return Give(errno);
    if (info.st_dev != device_) return Give(EXDEV);
    Empty(below.get(), depth + 1);
    return unlinkat(dir, name, AT_REMOVEDIR) == 0 ? true : Give(errno);
  }

  bool MoveUp(int dir, const char* name) {
    char moved[32];
    snprintf(moved, sizeof moved, ".moved-%u", moved_++);
    return renameat(dir, name, top_, moved) == 0 ? true : Give(errno);
  }

  bool Give(int err) {
    Remember(err);
    return false;
  }

  int top_;
  uint64_t device_;
  unsigned moved_ = 0;
  int err_ = 0;
};

class CgroupRemover {
 public:
  void Empty(Fd dir, int depth) {
    alignas(Entry) char buffer[2048];
    // An invalid descriptor has no entries either.
    for (long size = 0; (size = syscall(SYS_getdents64, dir.get(), buffer, sizeof buffer)) > 0;) {
      for (long at = 0; at < size;) {
        auto* entry = reinterpret_cast<Entry*>(buffer + at);
        at += entry->length;
        if (entry->type == kDirectory && !IsDots(entry->name)) RemoveOne(dir.get(), entry->name, depth);
      }
    }
  }

 private:
  static constexpr uint8_t kDirectory = 4;  // DT_DIR

  void RemoveOne(int dir, const char* name, int depth) {
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno != EBUSY || depth >= kDeepest) return;
    struct stat info;
    Empty(OpenDirectory(dir, name, &info), depth + 1);
    (void)unlinkat(dir, name, AT_REMOVEDIR);
  }
};

}  // namespace

int RemoveTree(const char* path) {
  struct stat info;
  Fd top = OpenDirectory(AT_FDCWD, path, &info);
  if (!top.valid()) return errno == ENOENT ? 0 : errno;
  Remover remover(top.get(), info.st_dev);
  remover.Empty(top.get(), 0);
  if (rmdir(path) == -1 && errno != ENOENT) remover.Remember(errno);
  return remover.err();
}

void RemoveCgroupsIn(int dir, const char* name) {
  struct stat info;
  CgroupRemover().Empty(OpenDirectory(dir, name, &info), 0);
}

}  // namespace spty
