// openat2(2), Linux 5.6. Own copies: the headers of the distributions that we build on may be older than the
// kernel that we run on.
#pragma once

#include <stdint.h>

namespace spty::uapi {

// The same on every architecture.
inline constexpr long kSysOpenat2 = 437;

struct OpenHow {
  uint64_t flags;
  uint64_t mode;
  uint64_t resolve;
};
static_assert(sizeof(OpenHow) == 24);

inline constexpr uint64_t kResolveNoMagiclinks = 0x02;
// ELOOP instead of following a symbolic link, wherever on the way it is. Magic links count too.
inline constexpr uint64_t kResolveNoSymlinks = 0x04;
inline constexpr uint64_t kResolveInRoot = 0x10;
// EAGAIN where the kernel would have to ask a disk, a server or a process. Linux 5.12; EINVAL before.
inline constexpr uint64_t kResolveCached = 0x20;

}  // namespace spty::uapi
