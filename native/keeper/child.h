// The code between fork and exec.
#pragma once

#include "keeper/plan_view.h"

namespace spty {

// Turns this freshly forked process into the shell, or writes one wire::Failed to `error_fd` and exits. Never
// returns. `slave` and `error_fd` are >= 3 and CLOEXEC.
[[noreturn]] void BecomeShell(const PlanView& plan, int slave, int error_fd);

}  // namespace spty
