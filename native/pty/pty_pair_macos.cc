#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ttycom.h>

#include <cerrno>

#include "base/eintr.h"
#include "pty/pty_pair.h"

namespace spty {
namespace {

Error PtyError(const char* subject) { return Error{Stage::kPty, errno, subject}; }

// posix_openpt takes no flag but O_RDWR and O_NOCTTY here.
bool Prepare(int fd, bool nonblocking) {
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) == -1) return false;
  if (!nonblocking) return true;
  const int flags = fcntl(fd, F_GETFL);
  return flags != -1 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) != -1;
}

}  // namespace

// The slave is opened here, before anything else: without one the master knows no window size and no line
// settings, and reads an end of file. And somebody has one open until the shell does, for the same reason.
Result<PtyPair> OpenRawPtyPair() {
  PtyPair pair;
  pair.master = AboveStdio(Fd(posix_openpt(O_RDWR | O_NOCTTY)));
  if (!pair.master.valid()) return PtyError("/dev/ptmx");
  if (!Prepare(pair.master.get(), true)) return PtyError("fcntl");
  // By their ioctls and not by name: grantpt(3) and ptsname(3) are not safe with threads.
  if (ioctl(pair.master.get(), TIOCPTYGRANT) == -1) return PtyError("TIOCPTYGRANT");
  if (ioctl(pair.master.get(), TIOCPTYUNLK) == -1) return PtyError("TIOCPTYUNLK");
  char name[128] = {};  // as large as the ioctl writes
  if (ioctl(pair.master.get(), TIOCPTYGNAME, name) == -1) return PtyError("TIOCPTYGNAME");
  pair.slave_name = name;
  pair.slave = AboveStdio(Fd(RetryEintr([&] { return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC); })));
  if (!pair.slave.valid()) return PtyError(name);
  return pair;
}

}  // namespace spty
