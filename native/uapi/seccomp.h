// Classic BPF and seccomp as the kernel defines them, pinned: the headers of the oldest supported
// distributions lack some of it, and a filter is also built (and tested) for the architecture that this is
// not.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace spty {

// One instruction. The layout of struct sock_filter.
struct SockFilter {
  uint16_t code;
  uint8_t jump_true;
  uint8_t jump_false;
  uint32_t k;
};
static_assert(sizeof(SockFilter) == 8 && offsetof(SockFilter, k) == 4);

// What a filter looks at. The layout of struct seccomp_data.
struct SeccompData {
  uint32_t nr;  // an int for the kernel; BPF knows unsigned words only
  uint32_t arch;
  uint64_t instruction_pointer;
  uint64_t args[6];
};
static_assert(sizeof(SeccompData) == 64 && offsetof(SeccompData, args) == 16);

inline constexpr size_t kBpfMaxInstructions = 4096;

// The instructions that the builder emits. Seccomp knows a few more.
inline constexpr uint16_t kBpfLoadWord = 0x20;         // BPF_LD | BPF_W | BPF_ABS
inline constexpr uint16_t kBpfAnd = 0x54;              // BPF_ALU | BPF_AND | BPF_K
inline constexpr uint16_t kBpfJump = 0x05;             // BPF_JMP | BPF_JA
inline constexpr uint16_t kBpfJumpIfEqual = 0x15;      // BPF_JMP | BPF_JEQ | BPF_K
inline constexpr uint16_t kBpfJumpIfAtLeast = 0x35;    // BPF_JMP | BPF_JGE | BPF_K
inline constexpr uint16_t kBpfJumpIfAnyBitSet = 0x45;  // BPF_JMP | BPF_JSET | BPF_K
inline constexpr uint16_t kBpfReturn = 0x06;           // BPF_RET | BPF_K

inline constexpr uint32_t kSeccompKillProcess = 0x80000000;
inline constexpr uint32_t kSeccompErrno = 0x00050000;  // the errno in the low 16 bits
inline constexpr uint32_t kSeccompUserNotify = 0x7fc00000;
inline constexpr uint32_t kSeccompAllow = 0x7fff0000;

inline constexpr uint32_t kAuditArchX86_64 = 0xc000003e;
inline constexpr uint32_t kAuditArchI386 = 0x40000003;
inline constexpr uint32_t kAuditArchAarch64 = 0xc00000b7;
inline constexpr uint32_t kAuditArchArm = 0x40000028;

// What this program's own system calls show. 0 where no filter is built: x32 and big-endian included, whose
// numbers or argument halves lie elsewhere.
#if defined(__x86_64__) && !defined(__ILP32__)
inline constexpr uint32_t kAuditArchNative = kAuditArchX86_64;
#elif defined(__aarch64__) && !defined(__ILP32__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
inline constexpr uint32_t kAuditArchNative = kAuditArchAarch64;
#else
inline constexpr uint32_t kAuditArchNative = 0;
#endif

}  // namespace spty
