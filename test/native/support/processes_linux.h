// What /proc says beyond that.
#pragma once

#include "support/processes.h"

namespace spty {

// A line of /proc/PID/status without its name: "SigBlk" -> "0000000000000000".
std::string StatusOf(pid_t pid, const std::string& field);

}  // namespace spty
