// The UNIX sockets on which the session itself listens, by the kernel's number for them (SO_COOKIE), which no
// other socket gets until the machine restarts.
#pragma once

#include <stdint.h>

namespace spty {

// Entries are never removed; a session that listens more often than this is answered ENOBUFS.
inline constexpr uint32_t kMaxOwnSockets = 1U << 20;

// 0 or an errno.
int CookieOf(int socket, uint64_t* cookie);

// Any thread. 0, ENOBUFS or ENOMEM.
int AddOwnSocket(uint64_t cookie);
bool IsOwnSocket(uint64_t cookie);

}  // namespace spty
