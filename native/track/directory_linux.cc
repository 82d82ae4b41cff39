#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "track/directory.h"

namespace spty {
namespace {

struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[1];
};

EntryKind KindOf(uint8_t type) {
  switch (type) {
    case DT_DIR:
      return EntryKind::kDirectory;
    case DT_LNK:
      return EntryKind::kLink;
    case DT_UNKNOWN:
      return EntryKind::kUnknown;
    default:
      return EntryKind::kOther;
  }
}

bool IsDots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

}  // namespace

Fd OpenDirectory(int dir, const char* name, struct stat* info) {
  Fd place(openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.valid() || fstat(place.get(), info) == -1) return Fd();
  // Through the descriptor: the name could be a link by now.
  char self[32];
  snprintf(self, sizeof self, "/proc/self/fd/%d", place.get());
  if ((info->st_mode & S_IRWXU) != S_IRWXU && chmod(self, S_IRWXU) == -1) return Fd();
  return Fd(openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

int ListDirectory(int dir, VisitEntry visit, void* context) {
  if (lseek(dir, 0, SEEK_SET) == -1) return errno;
  alignas(Entry) char buffer[4096];
  for (;;) {
    const long size = syscall(SYS_getdents64, dir, buffer, sizeof buffer);
    if (size <= 0) return size == -1 ? errno : 0;
    for (long at = 0; at < size;) {
      auto* entry = reinterpret_cast<Entry*>(buffer + at);
      at += entry->length;
      if (!IsDots(entry->name)) visit(context, entry->name, KindOf(entry->type));
    }
  }
}

}  // namespace spty
