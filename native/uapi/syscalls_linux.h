// Numbers of the system calls that the seccomp filter knows, for both architectures, pinned: a filter for one
// is built and tested on the other, and old headers lack the newest. Where the headers have a number, it is
// compared.
#pragma once

#include <stdint.h>
#include <sys/syscall.h>

#include "uapi/seccomp.h"

namespace spty {

inline constexpr uint32_t kNoSyscall = 0xffffffff;

struct SyscallNumber {
  uint32_t x86_64;
  uint32_t aarch64;
};

// name(x86_64, aarch64); from arch/x86/entry/syscalls/syscall_64.tbl and scripts/syscall.tbl of Linux 6.18.
#define SPTY_SYSCALLS(X)          \
  X(ioctl, 16, 29)                \
  X(socket, 41, 198)              \
  X(connect, 42, 203)             \
  X(sendto, 44, 206)              \
  X(sendmsg, 46, 211)             \
  X(listen, 50, 201)              \
  X(socketpair, 53, 199)          \
  X(fcntl, 72, 25)                \
  X(setpriority, 141, 140)        \
  X(sched_setparam, 142, 118)     \
  X(sched_setscheduler, 144, 119) \
  X(pivot_root, 155, 41)          \
  X(acct, 163, 89)                \
  X(mount, 165, 40)               \
  X(umount2, 166, 39)             \
  X(swapon, 167, 224)             \
  X(swapoff, 168, 225)            \
  X(reboot, 169, 142)             \
  X(iopl, 172, kNoSyscall)        \
  X(ioperm, 173, kNoSyscall)      \
  X(init_module, 175, 105)        \
  X(delete_module, 176, 106)      \
  X(quotactl, 179, 60)            \
  X(sched_setaffinity, 203, 122)  \
  X(mq_open, 240, 180)            \
  X(mq_unlink, 241, 181)          \
  X(kexec_load, 246, 104)         \
  X(add_key, 248, 217)            \
  X(request_key, 249, 218)        \
  X(keyctl, 250, 219)             \
  X(ioprio_set, 251, 30)          \
  X(perf_event_open, 298, 241)    \
  X(prlimit64, 302, 261)          \
  X(open_by_handle_at, 304, 265)  \
  X(sendmmsg, 307, 269)           \
  X(finit_module, 313, 273)       \
  X(sched_setattr, 314, 274)      \
  X(seccomp, 317, 277)            \
  X(kexec_file_load, 320, 294)    \
  X(bpf, 321, 280)                \
  X(userfaultfd, 323, 282)        \
  X(io_uring_setup, 425, 425)     \
  X(io_uring_enter, 426, 426)     \
  X(io_uring_register, 427, 427)  \
  X(open_tree, 428, 428)          \
  X(move_mount, 429, 429)         \
  X(fsopen, 430, 430)             \
  X(fsconfig, 431, 431)           \
  X(fsmount, 432, 432)            \
  X(fspick, 433, 433)             \
  X(clone3, 435, 435)             \
  X(mount_setattr, 442, 442)      \
  X(quotactl_fd, 443, 443)        \
  X(open_tree_attr, 467, 467)

// kSys_mount and so on, spelled as the kernel spells them.
#define SPTY_DEFINE_SYSCALL(name, x86_64, aarch64) \
  inline constexpr SyscallNumber kSys_##name{x86_64, aarch64};
SPTY_SYSCALLS(SPTY_DEFINE_SYSCALL)
#undef SPTY_DEFINE_SYSCALL

// The newest call that was looked at is the one before (Linux 6.19, both architectures). Behind it are also
// x32's own numbers (512 to 547), which kernels before 5.4 took from a 64-bit caller without the bit below.
inline constexpr uint32_t kFirstUnknownSyscall = 471;

// On x86_64: the bit that marks a call of the x32 ABI.
inline constexpr uint32_t kX32Bit = 0x40000000;

namespace syscalls_internal {

// Whether `text`, a header's macro after expansion, is another number than `pinned`. A macro that the header
// lacks stays a name, and says nothing.
constexpr bool Contradicts(const char* text, uint32_t pinned) {
  uint32_t value = 0;
  if (*text == '\0') return true;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return false;
    value = value * 10 + static_cast<uint32_t>(*text - '0');
  }
  return value != pinned;
}

#define SPTY_TEXT_(x) #x
#define SPTY_TEXT(x) SPTY_TEXT_(x)
#define SPTY_CHECK_SYSCALL(name, x86_64, aarch64)                                                      \
  static_assert(kAuditArchNative != kAuditArchX86_64 || !Contradicts(SPTY_TEXT(__NR_##name), x86_64)); \
  static_assert(kAuditArchNative != kAuditArchAarch64 || !Contradicts(SPTY_TEXT(__NR_##name), aarch64));
SPTY_SYSCALLS(SPTY_CHECK_SYSCALL)
// The comparison itself works: every header has this one.
static_assert(kAuditArchNative == 0 || Contradicts(SPTY_TEXT(__NR_socket), 1));
#undef SPTY_CHECK_SYSCALL
#undef SPTY_TEXT
#undef SPTY_TEXT_

}  // namespace syscalls_internal
}  // namespace spty
