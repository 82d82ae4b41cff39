// seccomp user notification, pinned: the keeper's C library brings no kernel headers, and a build machine may
// be older than the kernel it runs on. The ioctl numbers are those of x86-64 and arm64 (and every
// architecture with the generic _IOC layout).
#pragma once

#include <stdint.h>

namespace spty::uapi {

struct SeccompData {
  int32_t nr;
  uint32_t arch;
  uint64_t instruction_pointer;
  uint64_t args[6];
};

struct SeccompNotif {
  uint64_t id;
  uint32_t pid;  // of the calling thread, as the receiver sees it; 0 if it cannot
  uint32_t flags;
  SeccompData data;
};
static_assert(sizeof(SeccompNotif) == 80);

struct SeccompNotifResp {
  uint64_t id;
  int64_t val;
  int32_t error;
  uint32_t flags;
};
static_assert(sizeof(SeccompNotifResp) == 24);

struct SeccompNotifSizes {
  uint16_t notif;
  uint16_t resp;
  uint16_t data;
};

inline constexpr unsigned kSeccompGetNotifSizes = 3;

inline constexpr unsigned long kSeccompNotifRecv = 0xc0502100;
inline constexpr unsigned long kSeccompNotifSend = 0xc0182101;
inline constexpr unsigned long kSeccompNotifIdValid = 0x40082102;
// Kernels before 5.8 know the number only with the direction the wrong way round.
inline constexpr unsigned long kSeccompNotifIdValidWrongDirection = 0x80082102;

#if defined(__x86_64__)
inline constexpr uint32_t kNativeAuditArch = 0xc000003e;
#elif defined(__aarch64__)
inline constexpr uint32_t kNativeAuditArch = 0xc00000b7;
#else
#error "add this architecture's AUDIT_ARCH_ number"
#endif

}  // namespace spty::uapi
