// O_PATH, and the kernel itself says where the descriptor is: either openat2 confirms that it went where the
// text says without following a link, or /proc/self/fd tells. A walk of our own with readlink would be a
// second opinion about path resolution, and would race with whoever renames things meanwhile.
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/eintr.h"
#include "policy/path_pin.h"
#include "policy/path_text.h"
#include "uapi/openat2.h"

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
  // Without /proc the file is still there: this must not look like ENOENT.
  if (length < 0) return PinError(errno == ENOENT || errno == ENOTDIR ? ENOTSUP : errno, path);
  // A full buffer may have been cut; "(unreachable)/..." is outside our root.
  if (length == sizeof link || link[0] != '/') return PinError(ELOOP, path);
  return std::string(link, static_cast<size_t>(length));
}

Result<void> Examine(PinnedPath& pin, const std::string& path) {
  struct stat info {};
  if (fstat(pin.fd.get(), &info) != 0) return PinError(errno, path);
  // Deleted since: its name is no place any more.
  if (info.st_nlink == 0) return PinError(ESTALE, path);
  pin.device = info.st_dev;
  pin.inode = info.st_ino;
  pin.type = TypeOf(info.st_mode);
  return {};
}

// "x (deleted)" is how /proc shows a name that was removed, also while the file has others; but it can be a
// name.
bool IsAt(const PinnedPath& pin) {
  if (!pin.path.ends_with(" (deleted)")) return true;
  struct stat info {};
  return lstat(pin.path.c_str(), &info) == 0 && info.st_dev == pin.device && info.st_ino == pin.inode;
}

int OpenWithoutLinks(const char* path) {
  uapi::OpenHow how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = uapi::kResolveNoSymlinks;
  return static_cast<int>(syscall(uapi::kSysOpenat2, AT_FDCWD, path, &how, sizeof how));
}

}  // namespace

Result<PinnedPath> PinExactly(const std::string& absolute_path) {
  if (!IsPlainPath(absolute_path)) return PinError(EINVAL, absolute_path);
  PinnedPath pin;
  pin.fd = AboveStdio(Fd(RetryEintr([&] { return OpenWithoutLinks(absolute_path.c_str()); })));
  if (!pin.fd.valid()) return PinError(errno, absolute_path);
  TRY(Examine(pin, absolute_path));
  pin.path = absolute_path;
  return pin;
}

Result<PinnedPath> PinThroughLinks(const std::string& absolute_path) {
  PinnedPath pin;
  pin.fd = AboveStdio(Fd(RetryEintr([&] { return open(absolute_path.c_str(), O_PATH | O_CLOEXEC); })));
  if (!pin.fd.valid()) return PinError(errno, absolute_path);
  TRY_ASSIGN(pin.path, PlaceOf(pin.fd, absolute_path));
  // After the name was told: a file that has none any more is found out.
  TRY(Examine(pin, absolute_path));
  if (!IsAt(pin)) return PinError(ESTALE, absolute_path);
  return pin;
}

bool IsSamePlace(const PinnedPath& pin, const std::string& place) { return pin.path == place; }

std::string RealName(const std::string& place) { return place; }

// One question in place of three, as every grant of every session is asked about. By whatever way its path
// leads there now: the rule is for the file itself, through the descriptor.
Result<void> VerifyPin(const PinnedPath& pin) {
  struct stat info {};
  if (RetryEintr([&] { return lstat(pin.path.c_str(), &info); }) != 0) {
    return PinError(IsShortage(errno) ? errno : ESTALE, pin.path);
  }
  if (info.st_dev != pin.device || info.st_ino != pin.inode) return PinError(ESTALE, pin.path);
  return {};
}

}  // namespace spty
