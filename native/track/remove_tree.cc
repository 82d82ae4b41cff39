#include "track/remove_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "track/directory.h"

namespace spty {
namespace {

// Directories below this depth are moved up before they are emptied: descriptors are not unlimited.
constexpr int kDeepest = 32;
constexpr int kNames = 1 << 16;

class Remover {
 public:
  Remover(int top, dev_t device) : top_(top), device_(device) {}

  // Empties the directory. Goes on as long as a pass removes something: entries that were moved up come
  // again.
  void Empty(int dir, int depth) {
    Pass pass{this, dir, depth, true};
    while (pass.removed) {
      pass.removed = false;
      Remember(ListDirectory(dir, VisitOne, &pass));
    }
  }

  int err() const { return err_; }
  void Remember(int err) {
    if (err_ == 0) err_ = err;
  }

 private:
  struct Pass {
    Remover* remover;
    int dir;
    int depth;
    bool removed;
  };

  static void VisitOne(void* context, const char* name, EntryKind) {
    auto* pass = static_cast<Pass*>(context);
    pass->removed |= pass->remover->RemoveOne(pass->dir, name, pass->depth);
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
    // Opened first, which makes it writable: a directory that is not cannot get another parent.
    struct stat info;
    const Fd itself = OpenDirectory(dir, name, &info);
    if (!itself.valid()) return Give(errno);
    if (info.st_dev != device_) return Give(EXDEV);
    // Whoever filled the tree may have foreseen the names.
    for (int attempt = 0; attempt < kNames; ++attempt) {
      char moved[32];
      snprintf(moved, sizeof moved, ".moved-%u", moved_++);
      if (renameat(dir, name, top_, moved) == 0) return true;
      if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) break;
    }
    return Give(errno);
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

struct CgroupLevel {
  int dir;
  int depth;
};

void EmptyCgroup(const Fd& dir, int depth);

void RemoveCgroup(void* context, const char* name, EntryKind kind) {
  const auto* level = static_cast<const CgroupLevel*>(context);
  if (kind != EntryKind::kDirectory || unlinkat(level->dir, name, AT_REMOVEDIR) == 0) return;
  if (errno != EBUSY || level->depth >= kDeepest) return;
  struct stat info;
  EmptyCgroup(OpenDirectory(level->dir, name, &info), level->depth + 1);
  (void)unlinkat(level->dir, name, AT_REMOVEDIR);
}

// An invalid descriptor has no entries either.
void EmptyCgroup(const Fd& dir, int depth) {
  CgroupLevel level{dir.get(), depth};
  (void)ListDirectory(dir.get(), RemoveCgroup, &level);
}

}  // namespace

namespace {

int RemoveTree(const char* path, bool own_only) {
  struct stat info;
  Fd top = OpenDirectory(AT_FDCWD, path, &info);
  if (!top.valid()) return errno == ENOENT ? 0 : errno;
  if (own_only && info.st_uid != geteuid()) return EPERM;
  Remover remover(top.get(), info.st_dev);
  remover.Empty(top.get(), 0);
  // If that goes, all else is gone, whatever went wrong on the way.
  if (rmdir(path) == 0 || errno == ENOENT) return 0;
  remover.Remember(errno);
  return remover.err();
}

}  // namespace

int RemoveTree(const char* path) { return RemoveTree(path, false); }

int RemoveOwnTree(const char* path) { return RemoveTree(path, true); }

void RemoveCgroupsIn(int dir, const char* name) {
  struct stat info;
  EmptyCgroup(OpenDirectory(dir, name, &info), 0);
}

}  // namespace spty
