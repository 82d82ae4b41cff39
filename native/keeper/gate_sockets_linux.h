// The UNIX sockets on which the session itself listens: the kernel's number for each (SO_COOKIE), which no
// other socket gets until the machine restarts, together with the file that it is bound to, since unix_diag
// cannot always tell two files apart.
#pragma once

#include <stdint.h>

namespace spty {

// Entries are never removed; a session that has used them all up is answered ENOBUFS when it listens.
inline constexpr uint32_t kMaxOwnSockets = 1U << 20;

// 0 or an errno.
int CookieOf(int socket, uint64_t* cookie);

// Any thread. 0, ENOBUFS, ENOMEM, or EINVAL for a cookie of 0.
int AddOwnSocket(uint64_t cookie, uint64_t device, uint64_t inode);
bool IsOwnSocket(uint64_t cookie, uint64_t device, uint64_t inode);

}  // namespace spty
