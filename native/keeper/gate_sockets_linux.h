// The UNIX sockets on which the session itself listens, by the kernel's number for them (SO_COOKIE), which no
// other socket gets until the machine restarts.
#pragma once

#include <stdint.h>

namespace spty {

// Entries are never removed, and a socket bound to a path takes two; a session that has used them all up is
// answered ENOBUFS when it listens.
inline constexpr uint32_t kMaxOwnSockets = 1U << 20;

// 0 or an errno.
int CookieOf(int socket, uint64_t* cookie);

// Any thread. 0, ENOBUFS or ENOMEM.
int AddOwnSocket(uint64_t cookie);
bool IsOwnSocket(uint64_t cookie);

// The file to which an own socket's name led when it began to listen, for file systems on which unix_diag
// cannot tell two files apart.
int AddOwnFile(uint64_t cookie, uint64_t device, uint64_t inode);
bool IsOwnFile(uint64_t cookie, uint64_t device, uint64_t inode);

}  // namespace spty
