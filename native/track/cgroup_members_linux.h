// Who is in a cgroup, and their end.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace spty {

// What a file of the kernel's says now, from its beginning. Empty, and errno set, if it cannot be read.
std::string ReadWhole(int fd);

std::vector<pid_t> MembersOf(int procs);

// Descriptors of the files of one cgroup; -1 for what the kernel does not have.
struct CgroupFiles {
  int procs = -1;
  int kill = -1;    // Linux 5.14
  int freeze = -1;  // Linux 5.2
};

// What the names of our cgroups begin with: the latter, of this copy of the library. A process may have
// loaded two, and each removes its own by name.
inline constexpr char kCgroupPrefix[] = "sandboxed-pty-";
std::string OwnCgroupPrefix();

// SIGKILL to every member: in one stroke if the kernel can, else one by one. {cgroup, err, path}.
Result<void> KillMembers(const CgroupFiles& files, const std::string& path);

}  // namespace spty
