#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "pty/pty_pair.h"

namespace spty {
namespace {

#ifndef TIOCGPTPEER
constexpr unsigned long kGetPeer = _IO('T', 0x41);  // Linux 4.13
#else
constexpr unsigned long kGetPeer = TIOCGPTPEER;
#endif

Error PtyError(const char* subject) { return Error{Stage::kPty, errno, subject}; }

}  // namespace

Result<PtyPair> OpenRawPtyPair() {
  PtyPair pair;
  pair.master = AboveStdio(Fd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)));
  if (!pair.master.valid()) return PtyError("/dev/ptmx");
  // No grantpt: devpts makes the slave with the right owner and mode.
  int unlock = 0;
  if (ioctl(pair.master.get(), TIOCSPTLCK, &unlock) == -1) return PtyError("TIOCSPTLCK");
  unsigned number = 0;
  if (ioctl(pair.master.get(), TIOCGPTN, &number) == -1) return PtyError("TIOCGPTN");
  pair.slave_name = "/dev/pts/" + std::to_string(number);
  int slave = ioctl(pair.master.get(), kGetPeer, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave == -1 && (errno == EINVAL || errno == ENOTTY)) {
    slave = open(pair.slave_name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  pair.slave = AboveStdio(Fd(slave));
  if (!pair.slave.valid()) return PtyError(pair.slave_name.c_str());
  return pair;
}

}  // namespace spty
