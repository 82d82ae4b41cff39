// Keepers that nobody waits for any more, but that are still children of this process: process-wide, any
// thread.
#pragma once

#include <sys/types.h>

namespace spty {

// True if the child is gone for good: reaped here, or by the kernel because the host ignores SIGCHLD.
bool TryReap(pid_t pid);

// Remembers a child. Its number stays its own until it is reaped.
void LeaveToReap(pid_t pid);

// Reaps those that have ended since.
void ReapLeftovers();

}  // namespace spty
