#include <string.h>
#include <sys/vfs.h>

#include "base/kernel_interface.h"

namespace spty {
namespace {

// As in linux/magic.h, which musl does not bring.
constexpr long kProc = 0x9fa0;
constexpr long kSysfs = 0x62656572;
constexpr long kCgroup = 0x27e0eb;
constexpr long kCgroup2 = 0x63677270;

}  // namespace

bool IsAtOrBelow(const char* path, const char* ancestor) {
  const size_t length = strlen(ancestor);
  return strncmp(path, ancestor, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

bool IsKernelInterface(int fd, const char* path) {
  // By name too: /sys/fs/cgroup may be a tmpfs with the hierarchies mounted below it.
  if (IsAtOrBelow(path, "/proc") || IsAtOrBelow(path, "/sys")) return true;
  struct statfs info;
  if (fstatfs(fd, &info) == -1) return true;
  const auto type = static_cast<long>(info.f_type);
  return type == kProc || type == kSysfs || type == kCgroup || type == kCgroup2;
}

}  // namespace spty
