#include "policy/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/eintr.h"
#include "base/fd.h"

namespace spty {

Result<std::optional<std::string>> ReadSmallFile(const std::string& path) {
  using Text = std::optional<std::string>;
  constexpr size_t kMax = 64 * 1024;
  const Fd fd(RetryEintr(
      [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY); }));
  if (!fd.valid()) {
    // ENXIO: a socket.
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO) return Text();
    return Error{Stage::kPolicy, errno, path};
  }
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return Error{Stage::kPolicy, errno, path};
  if (!S_ISREG(info.st_mode)) return Text();
  std::string text(kMax + 1, '\0');
  size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = RetryEintr([&] { return read(fd.get(), text.data() + used, text.size() - used); });
    if (got < 0) return Error{Stage::kPolicy, errno, path};
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  if (used > kMax) return Error{Stage::kPolicy, EFBIG, path};
  text.resize(used);
  return Text(std::move(text));
}

}  // namespace spty
