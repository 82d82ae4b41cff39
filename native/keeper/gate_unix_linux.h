// Which UNIX sockets the session may connect to.
#pragma once

#include "base/fd.h"
#include "keeper/gate.h"
#include "keeper/gate_caller_linux.h"

namespace spty {

// Where an AF_UNIX connect leads. Made from a caller by PrepareUnix, judged and used only after the caller is
// known to be still there.
struct UnixTarget {
  bool abstract = false;
  char path[109] = {};  // a pathname, terminated
  Fd root;              // the caller's
  Fd directory;         // the caller's working directory, if the path is relative
};

// Reads the address as the kernel would, and takes what resolving it needs. 0 or an errno for the caller.
int PrepareUnix(const uapi::SeccompNotif& request, const CallerAddress& address, UnixTarget* target);

// Whether the socket that listens at `target` may be connected to: 0 or an errno for the caller. `pinned` is
// then what is to be connected to: the very file that was judged, or, for an abstract name, nothing.
int JudgeUnix(const UnixTarget& target, const GateRules& rules, Fd* pinned);

// Notes that the socket with this cookie, which is about to listen, is the session's, and on which file:
// `target` is its own name, made by PrepareUnix. If that leads to no file, or to one on which somebody else
// listens, nothing is noted, and the session can reach the socket only where the rules say so. 0 or an errno
// for the caller.
int RememberListener(uint64_t cookie, const UnixTarget& target);

}  // namespace spty
