// The connect gate: performs connect(2) and listen(2) for the session.
//
// Before ABI 9, Landlock lets a confined process connect to any pathname socket that the file permissions
// allow: D-Bus, systemd --user, docker.sock. So the session's seccomp filter turns both calls into
// notifications, and the keeper performs them on its own copy of the socket with its own copy of the address.
// The caller is never told to go on by itself: whatever was checked could be swapped before it does.
//
// While the gate lives, what a peer sees (SO_PEERCRED) is the session's uid and gid with the keeper's pid.
// Once the keeper is dead the kernel answers ENOSYS.
#pragma once

#include <stdint.h>

#include "base/fd.h"

namespace spty {

struct GateRules {
  // Null-terminated lists of canonical absolute paths, or null. A socket bound below one of `directories`,
  // or at or below one of `sockets`, may be connected to, unless one of `closed` is nearer to it.
  char* const* directories = nullptr;
  char* const* sockets = nullptr;
  char* const* closed = nullptr;
  bool inet = false;  // whether connects of AF_INET and AF_INET6 sockets are performed
  // The keeper's Landlock domain has SCOPE_ABSTRACT_UNIX_SOCKET, so the kernel itself lets the gate reach
  // only abstract sockets of the session. Else it reaches none.
  bool abstract_scoped = false;
  // The session's identity, if it differs from the keeper's.
  bool set_ids = false;
  bool set_groups = false;
  uint32_t uid = 0;
  uint32_t gid = 0;
  const uint32_t* groups = nullptr;
  uint32_t group_count = 0;
  bool drop_capabilities = false;  // the session runs without any
};

// As many requests can be under way at once. One more is answered with EAGAIN.
inline constexpr uint32_t kGateMaxThreads = 1024;

// Answers for `listener` until the process ends or the session's last process has: 0, or an errno, after
// which the listener is closed and every request of the session fails with ENOSYS. At most once per process,
// and not before the last fork: the gate's threads and their locks do not survive one. What `rules` points to
// must live as long as the process.
int StartGate(Fd listener, const GateRules& rules);

// Most sessions never connect, and a thread that starts while the shell does can wait for it for half a
// millisecond. So the first one starts with the first request, which the caller of StartGate has to wait for:
// this descriptor becomes readable. Negative while there is nothing to wait for.
int GateToWatch();
// It did.
void OnGateReady();

// How many requests were answered with EAGAIN for want of a thread.
uint32_t GateTurnedAway();

}  // namespace spty
