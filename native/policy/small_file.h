// Reads short text files that somebody else may control.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace spty {

// The contents of a regular file of at most 64 KiB; EFBIG if it is longer. None if there is no such file, or
// something else in its place: a FIFO named ".git" must not make us wait. The last component may not be a
// symbolic link.
Result<std::optional<std::string>> ReadSmallFile(const std::string& path);

}  // namespace spty
