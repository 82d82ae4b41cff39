#include "policy/path_pin.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace spty {

bool IsMissing(const Error& error) { return error.err == ENOENT || error.err == ENOTDIR; }

Result<PinnedPath> PinPath(const std::string& absolute_path) {
  Result<PinnedPath> exact = PinExactly(absolute_path);
  if (exact.ok() || IsMissing(exact.error())) return exact;
  return PinThroughLinks(absolute_path);
}

bool IsBeyondTheUser(const std::string& directory) {
  if (geteuid() == 0) return false;
  const Result<PinnedPath> pin = PinPath(directory);
  // Without a descriptor (macOS, unreadable) nobody can tell for sure.
  if (!pin.ok() || !IsSamePlace(pin.value(), directory) || !pin.value().fd.valid()) return false;
  struct stat info {};
  if (fstat(pin.value().fd.get(), &info) != 0 || info.st_uid == geteuid()) return false;
  return faccessat(pin.value().fd.get(), ".", W_OK, AT_EACCESS) != 0;
}

}  // namespace spty
