// libsandbox, as libSystem exports it. Apple's header declares sandbox_init as deprecated and sandbox_check
// not at all; there is no replacement for either.
#pragma once

#include <stdint.h>
#include <sys/types.h>

extern "C" {
int sandbox_init(const char* profile, uint64_t flags, char** error);
void sandbox_free_error(char* error);
// 0: allowed, 1: denied, -1: the question could not be asked (errno).
int sandbox_check(pid_t pid, const char* operation, int filter_type, ...);
}

namespace spty::seatbelt {

inline constexpr int kFilterPath = 1;         // SANDBOX_FILTER_PATH: one path follows
inline constexpr int kNoReport = 0x40000000;  // SANDBOX_CHECK_NO_REPORT: a denied question is no violation

}  // namespace spty::seatbelt
