// Whether this kernel tells what it knows of a path without asking anybody: see exec_check.h.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "uapi/openat2.h"

namespace spty {

inline bool HasCachedLookups() {
  uapi::OpenHow how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = uapi::kResolveCached;
  return Fd(static_cast<int>(syscall(uapi::kSysOpenat2, AT_FDCWD, "/", &how, sizeof how))).valid();
}

}  // namespace spty
