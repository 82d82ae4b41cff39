// openat2(2), Linux 5.6. Own copies: the headers of the distributions that we build on may be older than the
// kernel that we run on.
#pragma once

#include <stdint.h>

namespace spty {

// The same on every architecture that we build for.
constexpr long kSysOpenat2 = 437;

struct OpenHow {
  uint64_t flags = 0;
  uint64_t mode = 0;
  uint64_t resolve = 0;
};

// ELOOP instead of following a symbolic link, wherever on the way it is. Magic links count too.
constexpr uint64_t kResolveNoSymlinks = 0x04;

}  // namespace spty
