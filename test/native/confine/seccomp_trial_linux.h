// One act tried in a process of its own, with the seccomp filter installed and without.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "confine/seccomp_filter.h"

namespace spty {

// 0 or an errno, of a system call that answered `result`.
int ErrnoOf(long result);

struct Outcome {
  enum class Kind { kAnswered, kKilled, kNotTried };
  Kind kind = Kind::kNotTried;
  int value = 0;        // the errno (0: success) or the signal
  std::string trouble;  // why it was not tried

  bool operator==(const Outcome& other) const { return kind == other.kind && value == other.value; }
};
std::ostream& operator<<(std::ostream& out, const Outcome& outcome);
Outcome Answered(int err);
Outcome Killed(int signal);

struct Surroundings {
  uid_t uid = 0;
  // In user, mount and network namespaces of its own, where nobody else's privileges are needed.
  bool namespaces = false;
  std::optional<SeccompOptions> filter;
};

// What `act` (0 or an errno) came to there. Call it while this process has no other thread.
Outcome Try(const Surroundings& surroundings, const std::function<int()>& act);

// False, with errno set, if the kernel does not take the filter. For the calling thread. With `listener` it
// gets the descriptor of SECCOMP_FILTER_FLAG_NEW_LISTENER.
bool InstallFilter(const SeccompOptions& options, int* listener = nullptr);

// Who the tests run as: root and an unprivileged user, or only the latter.
std::vector<uid_t> UidsToTry();

}  // namespace spty
