// The few things about UNIX sockets that kernels name differently. Also part of the keeper: no C++ library
// here.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "base/fd.h"

namespace spty {

#ifdef __APPLE__
// Said to the socket itself, by OpenStreamPair.
inline constexpr int kSendQuietly = 0;
// Received descriptors are marked afterwards, by MarkReceived.
inline constexpr int kReceiveCloexec = 0;
#else
inline constexpr int kSendQuietly = MSG_NOSIGNAL;
inline constexpr int kReceiveCloexec = MSG_CMSG_CLOEXEC;
#endif

// Two connected stream sockets, CLOEXEC; writing to one whose other end is gone is EPIPE and no signal. 0 or
// an errno. On macOS there is a moment in which a fork of another thread could inherit them.
inline int OpenStreamPair(int ends[2]) {
#ifdef __APPLE__
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == -1) return errno;
  for (int i = 0; i < 2; ++i) {
    const int on = 1;
    if (fcntl(ends[i], F_SETFD, FD_CLOEXEC) == -1 ||
        setsockopt(ends[i], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) == -1) {
      const int err = errno;
      Fd first(ends[0]);
      Fd second(ends[1]);
      return err;
    }
  }
  return 0;
#else
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1 ? errno : 0;
#endif
}

// For each received descriptor. 0 or an errno.
inline int MarkReceived(int fd) {
#ifdef __APPLE__
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == -1 ? errno : 0;
#else
  (void)fd;
  return 0;
#endif
}

}  // namespace spty
