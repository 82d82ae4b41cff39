#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "track/directory.h"

namespace spty {
namespace {

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

}  // namespace

Fd OpenDirectory(int dir, const char* name, struct stat* info) {
  // Follows no link, so that it is a directory's mode that changes, if there is one.
  Fd place(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.valid() && errno == EACCES && fchmodat(dir, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0)
    place = Fd(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.valid() || fstat(place.get(), info) == -1) return Fd();
  if ((info->st_mode & S_IRWXU) != S_IRWXU && fchmod(place.get(), S_IRWXU) == -1) return Fd();
  return place;
}

int ListDirectory(int dir, VisitEntry visit, void* context) {
  // A stream takes its descriptor with it when it closes.
  Fd copy(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!copy.valid()) return errno;
  DIR* stream = fdopendir(copy.get());
  if (stream == nullptr) return errno;
  (void)copy.Take();
  errno = 0;
  while (const dirent* entry = readdir(stream)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      visit(context, entry->d_name, KindOf(entry->d_type));
    errno = 0;  // what readdir leaves alone at the end, and sets on an error
  }
  const int err = errno;
  closedir(stream);
  return err;
}

}  // namespace spty
