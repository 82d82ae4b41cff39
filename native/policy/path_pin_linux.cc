// O_PATH and /proc/self/fd: the kernel itself says where the descriptor is. A walk of our own with readlink
// would be a second opinion about path resolution, and would race with whoever renames things meanwhile.
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/eintr.h"
#include "policy/path_pin.h"

namespace spty {
namespace {

Error PinError(int err, const std::string& path) { return {Stage::kPolicy, err, path}; }

FileType TypeOf(mode_t mode) {
  if (S_ISDIR(mode)) return FileType::kDirectory;
  if (S_ISREG(mode)) return FileType::kFile;
  if (S_ISSOCK(mode)) return FileType::kSocket;
  if (S_ISCHR(mode) || S_ISBLK(mode)) return FileType::kDevice;
  return FileType::kOther;
}

Result<std::string> PlaceOf(const Fd& fd, const std::string& path) {
  char link[PATH_MAX + 1];
  const std::string name = "/proc/self/fd/" + std::to_string(fd.get());
  const ssize_t length = readlink(name.c_str(), link, sizeof link);
  if (length < 0) return PinError(errno, path);
  // A full buffer may have been cut; "(unreachable)/..." is outside our root.
  if (length == sizeof link || link[0] != '/') return PinError(ELOOP, path);
  return std::string(link, static_cast<size_t>(length));
}

}  // namespace

Result<PinnedPath> PinPath(const std::string& absolute_path) {
  PinnedPath pin;
  pin.fd = AboveStdio(Fd(RetryEintr([&] { return open(absolute_path.c_str(), O_PATH | O_CLOEXEC); })));
  if (!pin.fd.valid()) return PinError(errno, absolute_path);
  struct stat info {};
  if (fstat(pin.fd.get(), &info) != 0) return PinError(errno, absolute_path);
  TRY_ASSIGN(pin.path, PlaceOf(pin.fd, absolute_path));
  // Deleted since: the name that /proc shows is no place any more.
  if (info.st_nlink == 0) return PinError(ESTALE, absolute_path);
  pin.device = info.st_dev;
  pin.inode = info.st_ino;
  pin.type = TypeOf(info.st_mode);
  return pin;
}

}  // namespace spty
