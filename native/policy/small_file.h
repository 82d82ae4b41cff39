// Reads short text files that somebody else may control.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace spty {

// The contents of a regular file of at most 64 KiB. None for anything else: a FIFO named ".git" must not make
// us wait. The last component may not be a symbolic link.
std::optional<std::string> ReadSmallFile(const std::string& path);

// The same for whoever must know why: none if there is no such file (or a link, or no plain file), EFBIG if
// it is too long.
Result<std::optional<std::string>> ReadSmallFileOrFail(const std::string& path);

}  // namespace spty
