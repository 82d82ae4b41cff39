// A pseudo-terminal: both ends, ready for use before anybody else sees them.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "pty/window_size.h"

namespace spty {

struct PtyPair {
  Fd master;  // non-blocking
  Fd slave;
  std::string slave_name;  // "/dev/pts/7"
};

// Opens a pair, both CLOEXEC and >= 3, with node-pty's line settings and this window size. `utf8` tells the
// line discipline that erase works on characters instead of bytes (IUTF8).
Result<PtyPair> OpenPtyPair(const WindowSize& size, bool utf8);

// TIOCSWINSZ on either end; the kernel sends SIGWINCH to the foreground group if the size changed.
Result<void> SetWindowSize(int fd, const WindowSize& size);

// The platform's part: an unlocked master and its slave, without opening the slave by a path where that can
// be avoided (the path may mean another terminal in another mount namespace).
Result<PtyPair> OpenRawPtyPair();

}  // namespace spty
