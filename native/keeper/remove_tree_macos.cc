#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "keeper/remove_tree.h"

namespace spty {
namespace {

// Directories below this depth are moved up before they are emptied: descriptors are not unlimited.
constexpr int kDeepest = 32;

bool IsDots(const char* name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

// A directory that we can read and write, whatever its mode was; not a link to one. Invalid with errno set.
Fd OpenDirectory(int dir, const char* name, struct stat* info) {
  // Follows no link, so that it is a directory's mode that changes, if there is one.
  Fd place(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.valid() && errno == EACCES && fchmodat(dir, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0)
    place = Fd(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.valid() || fstat(place.get(), info) == -1) return Fd();
  if ((info->st_mode & S_IRWXU) != S_IRWXU && fchmod(place.get(), S_IRWXU) == -1) return Fd();
  return place;
}

class Remover {
 public:
  Remover(int top, dev_t device) : top_(top), device_(device) {}

  // Goes on as long as a pass removes something: entries that were moved up come again.
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
    // A stream takes its descriptor with it when it closes.
    Fd copy(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!copy.valid()) return Give(errno);
    DIR* stream = fdopendir(copy.get());
    if (stream == nullptr) return Give(errno);
    (void)copy.Take();
    bool removed = false;
    while (const dirent* entry = readdir(stream)) {
      if (!IsDots(entry->d_name)) removed |= RemoveOne(dir, entry->d_name, depth);
    }
    closedir(stream);
    return removed;
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
  dev_t device_;
  unsigned moved_ = 0;
  int err_ = 0;
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

void RemoveCgroupsIn(int, const char*) {}

}  // namespace spty
