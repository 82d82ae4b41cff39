#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

namespace spty {

void Fd::Reset() {
  // Not retried on EINTR: Linux has closed the descriptor by then, and a second close could hit somebody
  // else's.
  if (fd_ >= 0) ::close(Take());
}

Fd AboveStdio(Fd fd) {
  if (!fd.valid() || fd.get() > 2) return fd;
  return Fd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
}

}  // namespace spty
