// Processes by descriptor, and opening what another one has open: numbers and structs that old headers
// lack. The system call numbers are asm-generic ones, the same on every architecture.
#pragma once

#include <stdint.h>

namespace spty::uapi {

inline constexpr long kSysPidfdSendSignal = 424;  // Linux 5.1
inline constexpr long kSysPidfdOpen = 434;
inline constexpr long kSysPidfdGetfd = 438;

inline constexpr unsigned kPidfdThread = 0200;  // O_EXCL; Linux 6.9. arm64 agrees.

// Only what is used; the rest is padding up to the kernel's size.
struct Statx {
  uint32_t mask;
  uint32_t unused_a[35];
  uint64_t mount;  // STATX_MNT_ID, Linux 5.8
  uint64_t unused_b[13];
};
static_assert(sizeof(Statx) == 256);

inline constexpr unsigned kStatxMountId = 0x1000;

struct CapabilityHeader {
  uint32_t version;
  int32_t pid;
};
struct CapabilityData {
  uint32_t effective;
  uint32_t permitted;
  uint32_t inheritable;
};
inline constexpr uint32_t kCapabilityVersion3 = 0x20080522;  // takes two CapabilityData

}  // namespace spty::uapi
