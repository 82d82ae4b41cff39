// Capabilities as the kernel defines them, pinned: the keeper's C library may come without kernel headers.
#pragma once

#include <stdint.h>

namespace spty::capability {

inline constexpr uint32_t kVersion3 = 0x20080522;  // two words of 32 capabilities each

struct Header {
  uint32_t version = kVersion3;
  int32_t pid = 0;  // the calling thread
};

struct Sets {
  uint32_t effective = 0;
  uint32_t permitted = 0;
  uint32_t inheritable = 0;
};

inline constexpr int kLast = 63;               // the most that version 3 can express
inline constexpr uint32_t kSetPcap = 1U << 8;  // in the first word

// prctl(PR_SET_SECUREBITS): the bits, and with each its lock.
inline constexpr unsigned long kNoRoot = 0x03;
inline constexpr unsigned long kKeepCapsLocked = 0x20;
inline constexpr unsigned long kNoAmbientRaise = 0xc0;

}  // namespace spty::capability
