// Landlock's interface up to ABI 10, pinned: distributions' headers are years behind their kernels. Numbers
// are the same on every architecture.
#pragma once

#include <stdint.h>

namespace spty::landlock {

inline constexpr long kCreateRuleset = 444;  // system call numbers
inline constexpr long kAddRule = 445;
inline constexpr long kRestrictSelf = 446;

inline constexpr uint32_t kQueryVersion = 1U << 0;
inline constexpr uint32_t kQueryErrata = 1U << 1;  // since ABI 7, and backported
inline constexpr int kPathBeneath = 1;

struct RulesetAttr {
  uint64_t handled_fs = 0;
  uint64_t handled_net = 0;  // ABI 4
  uint64_t scoped = 0;       // ABI 6
};

struct [[gnu::packed]] PathBeneathAttr {
  uint64_t allowed = 0;
  int32_t parent_fd = -1;
};
static_assert(sizeof(PathBeneathAttr) == 12);

// ABI 1
inline constexpr uint64_t kExecute = 1ULL << 0;
inline constexpr uint64_t kWriteFile = 1ULL << 1;
inline constexpr uint64_t kReadFile = 1ULL << 2;
inline constexpr uint64_t kReadDir = 1ULL << 3;
inline constexpr uint64_t kRemoveDir = 1ULL << 4;
inline constexpr uint64_t kRemoveFile = 1ULL << 5;
inline constexpr uint64_t kMakeChar = 1ULL << 6;
inline constexpr uint64_t kMakeDir = 1ULL << 7;
inline constexpr uint64_t kMakeReg = 1ULL << 8;
inline constexpr uint64_t kMakeSock = 1ULL << 9;
inline constexpr uint64_t kMakeFifo = 1ULL << 10;
inline constexpr uint64_t kMakeBlock = 1ULL << 11;
inline constexpr uint64_t kMakeSym = 1ULL << 12;
inline constexpr uint64_t kRefer = 1ULL << 13;        // ABI 2
inline constexpr uint64_t kTruncate = 1ULL << 14;     // ABI 3
inline constexpr uint64_t kIoctlDev = 1ULL << 15;     // ABI 5
inline constexpr uint64_t kResolveUnix = 1ULL << 16;  // ABI 9

inline constexpr uint64_t kBindTcp = 1ULL << 0;         // ABI 4
inline constexpr uint64_t kConnectTcp = 1ULL << 1;      // ABI 4
inline constexpr uint64_t kBindUdp = 1ULL << 2;         // ABI 10
inline constexpr uint64_t kConnectSendUdp = 1ULL << 3;  // ABI 10

inline constexpr uint64_t kScopeAbstractUnix = 1ULL << 0;  // ABI 6
inline constexpr uint64_t kScopeSignal = 1ULL << 1;        // ABI 6

}  // namespace spty::landlock
