// The seccomp filter of a confined session: what no policy can grant, and what Landlock cannot refuse.
// docs/decisions/seccomp.md has the reasons and the table of answers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "uapi/seccomp.h"

namespace spty {

// Who decides about AF_UNIX sockets with a pathname.
enum class UnixSockets : uint8_t {
  // The keeper: connect(2) and listen(2) become notifications. Only stream and seqpacket sockets can be made,
  // because a datagram socket reaches others without connect.
  kGate,
  // Landlock (FS_RESOLVE_UNIX): nothing about AF_UNIX here.
  kKernel,
  // Nobody: there is no socket(AF_UNIX). Stream and seqpacket pairs stay, they are connected for good.
  kRefuse,
};

struct SeccompOptions {
  // Whether AF_INET and AF_INET6 sockets may be made: TCP, UDP and ping, nothing raw.
  bool inet = false;
  UnixSockets unix_sockets = UnixSockets::kRefuse;
  uint32_t keeper = 0;  // whose scheduling is not the session's business; 0: nobody's
};

enum class Architecture : uint8_t { kX86_64, kAarch64 };

// The program for the keeper to install. With kGate it needs a listener: without one the kernel answers
// ENOSYS to the calls that it would ask about. Error: stage seccomp.
Result<std::vector<SockFilter>> BuildSeccompFilter(const SeccompOptions& options, Architecture architecture);

// That of this process; nothing on one that has no filter.
std::optional<Architecture> NativeArchitecture();

}  // namespace spty
