// What the kernel lets us enforce, found out by trying it.
#pragma once

#include <cstdint>
#include <string>

namespace spty {

struct HostFeatures {
  int landlock_abi = 0;     // 0: no Landlock
  int landlock_errata = 0;  // as the kernel tells them
  // Each 0 if it works, else the errno of the attempt.
  int landlock_err = 0;
  int seccomp_err = 0;
  int notify_err = 0;  // a filter whose callers can be answered
  int diag_err = 0;    // asking who listens on a UNIX socket
  // Why the limits of the policy cannot be kept; empty if they can, or if it has none.
  std::string no_limits;
  // macOS: the system has Seatbelt instead of all the above, and the errno of an attempt to use it.
  bool seatbelt = false;
  int seatbelt_err = 0;
};

}  // namespace spty
