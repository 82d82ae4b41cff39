#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/eintr.h"
#include "base/fd.h"
#include "policy/mount_aliases.h"

namespace spty {

Result<std::vector<MountPoint>> ReadMounts() {
  constexpr char kTable[] = "/proc/self/mountinfo";
  const Fd table(RetryEintr([&] { return open(kTable, O_RDONLY | O_CLOEXEC); }));
  if (!table.valid()) return Error{Stage::kPolicy, errno, kTable};
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t size = RetryEintr([&] { return read(table.get(), buffer, sizeof buffer); });
    if (size < 0) return Error{Stage::kPolicy, errno, kTable};
    if (size == 0) return ParseMounts(text);
    text.append(buffer, static_cast<size_t>(size));
  }
}

}  // namespace spty
