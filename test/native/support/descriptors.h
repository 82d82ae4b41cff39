// Pipes and sockets, CLOEXEC, by calls that every kernel has. Not at birth, as the product's are: a test that
// starts programs in another thread at the same time must not use these.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "base/eintr.h"
#include "base/fd.h"
#include "base/socket.h"

namespace spty {

inline void SetCloexec(int fd) { EXPECT_EQ(fcntl(fd, F_SETFD, FD_CLOEXEC), 0); }

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    reading = Fd(ends[0]);
    writing = Fd(ends[1]);
    for (int end : ends) SetCloexec(end);
  }
  Fd reading;
  Fd writing;
};

// Neither end blocks.
struct QuickPipe : Pipe {
  QuickPipe() {
    for (const Fd* end : {&reading, &writing}) EXPECT_EQ(fcntl(end->get(), F_SETFL, O_NONBLOCK), 0);
  }
};

// Connected stream sockets; writing to one whose other end is gone is no signal, given kSendQuietly.
struct SocketPair {
  SocketPair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(OpenStreamPair(ends), 0);
    first = Fd(ends[0]);
    second = Fd(ends[1]);
  }
  Fd first;
  Fd second;
};

inline Fd OpenSocket(int family, int type) {
  Fd fd(socket(family, type, 0));
  SetCloexec(fd.get());
  return fd;
}

}  // namespace spty
