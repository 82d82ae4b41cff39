// execveat(2) with AT_EXECVE_CHECK, Linux 6.14: whether a file could be executed, without executing it. Own
// copies: the headers of the distributions that we build on are older than that.
#pragma once

namespace spty::uapi {

// Older kernels answer EINVAL, as to every flag that they do not know.
inline constexpr int kAtExecveCheck = 0x10000;
inline constexpr int kAtEmptyPath = 0x1000;
inline constexpr int kAtOfNoKernel = 0x40000000;

}  // namespace spty::uapi
