// What a child does to itself before it becomes a confined shell, and the keeper before it forks one. Nothing
// here can be undone. Each answers 0 or an errno.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fd.h"
#include "keeper/wire.h"

namespace spty {

// No exec of this process or of anything below it can gain a capability from now on, not even as root. Needs
// CAP_SETPCAP; without it there is nothing to drop that no_new_privs would not refuse as well: 0.
int DropBoundingSet();

// Sets no_new_privs and empties every capability set.
int GiveUpPrivileges();

// Sets no_new_privs only: what restricting oneself without privilege needs.
int RefuseNewPrivileges();

// Enters the Landlock domain of this ruleset.
int EnterDomain(int ruleset);

// Installs `count` struct sock_filter. With `listener` (not null) the filter's notifications can be read from
// *listener, CLOEXEC.
int InstallFilter(const void* filter, uint32_t count, int* listener);

// The child's half: sends the listener to the keeper. It need not wait: until somebody answers, what asks
// waits, and if nobody can, the kernel refuses.
int HandOverListener(int socket, int listener);
// The keeper's half: receives the listener. ECONNRESET: the child ended first.
int ReceiveListener(int socket, Fd* listener);

// Puts this process under a Seatbelt profile. What libsandbox says about a failure goes to `text`, which ends
// with a NUL. Allocates, so only in a process with one thread.
int EnterSeatbelt(const char* profile, char* text, size_t room);

// Tries, in a child of its own where needed, what this kernel lets us do.
wire::Features ProbeFeatures();

}  // namespace spty
