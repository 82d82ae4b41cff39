// Kills the session's processes one by one: what is left where neither a cgroup nor a scope holds them
// together.
#pragma once

#include <stdint.h>
#include <sys/types.h>

namespace spty {

// The shell, which only we reap, so that its number is its own; and its process group, all at once. There can
// be nobody in that but the shell's descendants, as it has made its own session.
void KillShell(pid_t shell);

// Each child of this process, by its number, which it keeps until we reap it. Children only: nobody else is
// ours for certain, and a grandchild becomes a child as soon as its parent dies. `list`: the kernel's, where
// it has one.
inline constexpr char kChildrenList[] = "/proc/thread-self/children";
void KillChildren(const char* list = kChildrenList);

// While children vanish as they die (SIGCHLD is ignored): each is held by a pidfd and seen to be a child
// before it is killed, since its number may be anybody's by now. How many were killed that had not been
// before.
uint32_t KillVanishingChildren(const char* list = kChildrenList);

// Whether the kernel has what KillVanishingChildren needs (5.4).
bool CanKillVanishingChildren();

}  // namespace spty
