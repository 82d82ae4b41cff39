// macOS has no O_PATH. O_EVTONLY opens without keeping the volume busy, and F_GETPATH tells where the
// descriptor is. A file that may not be opened at all (no read permission) is resolved by name; VerifyPin
// finds a later change.
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

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

// For when something was there a moment ago: "no such file" would let the caller go on as if it never had
// been.
Error LostError(int err, const std::string& path) {
  return PinError(err == ENOENT || err == ENOTDIR ? ESTALE : err, path);
}

// Sockets and unreadable files cannot be opened.
bool MustGoByName(int err) { return err == EACCES || err == EPERM || err == EOPNOTSUPP || err == ENXIO; }

Result<struct stat> PinByName(const std::string& path, PinnedPath& pin) {
  char buffer[PATH_MAX];
  if (realpath(path.c_str(), buffer) == nullptr) return PinError(errno, path);
  pin.path = buffer;
  struct stat info {};
  if (lstat(buffer, &info) != 0) return LostError(errno, path);
  // realpath went by name, and somebody was quick.
  if (S_ISLNK(info.st_mode)) return PinError(ESTALE, path);
  return info;
}

Result<struct stat> PinByDescriptor(const std::string& path, PinnedPath& pin) {
  char buffer[PATH_MAX];
  if (fcntl(pin.fd.get(), F_GETPATH, buffer) != 0) return LostError(errno, path);
  pin.path = buffer;
  struct stat info {};
  if (fstat(pin.fd.get(), &info) != 0) return PinError(errno, path);
  if (info.st_nlink == 0) return PinError(ESTALE, path);
  return info;
}

}  // namespace

// Most volumes ignore case here, so only the descriptor knows how a file is really called.
Result<PinnedPath> PinExactly(const std::string& absolute_path) { return PinError(ENOTSUP, absolute_path); }

Result<PinnedPath> PinThroughLinks(const std::string& absolute_path) {
  PinnedPath pin;
  // A FIFO must not block us, and a terminal not become ours.
  const int flags = O_EVTONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  pin.fd = AboveStdio(Fd(RetryEintr([&] { return open(absolute_path.c_str(), flags); })));
  if (!pin.fd.valid() && !MustGoByName(errno)) return PinError(errno, absolute_path);
  TRY_ASSIGN(const struct stat info,
             pin.fd.valid() ? PinByDescriptor(absolute_path, pin) : PinByName(absolute_path, pin));
  pin.device = static_cast<uint64_t>(info.st_dev);
  pin.inode = info.st_ino;
  pin.type = TypeOf(info.st_mode);
  return pin;
}

// By number, as the same file has many spellings.
bool IsSamePlace(const PinnedPath& pin, const std::string& place) {
  struct stat info {};
  return lstat(place.c_str(), &info) == 0 && static_cast<uint64_t>(info.st_dev) == pin.device &&
         info.st_ino == pin.inode;
}

std::string RealName(const std::string& place) {
  Result<PinnedPath> pin = PinThroughLinks(place);
  return pin.ok() && IsSamePlace(pin.value(), place) ? std::move(pin).value().path : place;
}

// Rules are about paths here, so that the way there counts, too.
Result<void> VerifyPin(const PinnedPath& pin) {
  const Result<PinnedPath> now = PinPath(pin.path);
  if (!now.ok()) return PinError(IsShortage(now.error().err) ? now.error().err : ESTALE, pin.path);
  const PinnedPath& found = now.value();
  if (found.path != pin.path || found.device != pin.device || found.inode != pin.inode)
    return PinError(ESTALE, pin.path);
  return {};
}

}  // namespace spty
