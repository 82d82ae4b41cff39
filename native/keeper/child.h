// The code between fork and exec.
#pragma once

#include "keeper/plan_view.h"

namespace spty {

// The child's descriptors, all >= 3 and CLOEXEC; -1 where the plan does not need one.
struct ChildFds {
  int slave = -1;
  int error = -1;               // where one wire::Failed goes
  int inner_domain = -1;        // Landlock ruleset
  int gate = -1;                // socket to the keeper, for the seccomp listener
  int cgroup = -1;              // the session's cgroup, if this process is not in it yet
  int stdio[3] = {-1, -1, -1};  // in place of the slave
};

// Turns this freshly forked process into the shell, or writes one wire::Failed and exits. Never returns.
[[noreturn]] void BecomeShell(const PlanView& plan, const ChildFds& fds);

}  // namespace spty
