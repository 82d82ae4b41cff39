#include "policy/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/eintr.h"
#include "base/fd.h"

namespace spty {

std::optional<std::string> ReadSmallFile(const std::string& path) {
  constexpr size_t kMax = 64 * 1024;
  const Fd fd(RetryEintr(
      [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY); }));
  if (!fd.valid()) return std::nullopt;
  struct stat info {};
  if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::string text(kMax + 1, '\0');
  size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = RetryEintr([&] { return read(fd.get(), text.data() + used, text.size() - used); });
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  if (used > kMax) return std::nullopt;
  text.resize(used);
  return text;
}

}  // namespace spty
