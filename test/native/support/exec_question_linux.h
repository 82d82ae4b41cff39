// Whether this kernel can be asked if it would execute something: see exec_check.h.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "uapi/execveat.h"

namespace spty {

inline bool CanAskAboutExec() {
  const long answer =
      syscall(SYS_execveat, -1, "", nullptr, nullptr, uapi::kAtEmptyPath | uapi::kAtExecveCheck);
  return answer == -1 && errno == EBADF;
}

}  // namespace spty
