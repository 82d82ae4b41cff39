// What a session may be given in place of its terminal.
#pragma once

#include "base/result.h"

namespace spty {

// A pipe, a file, a device that is no terminal, or one end of a UNIX stream connection. {stdio, EINVAL, why}
// for anything else: a terminal of the host's is not the session's business, a directory, and a socket that
// could still be turned to somebody else, would reach past the policy.
Result<void> CheckStdio(int fd);

}  // namespace spty
