// Reads short text files that somebody else may control.
#pragma once

#include <optional>
#include <string>

namespace spty {

// The contents of a regular file of at most 64 KiB. None for anything else: a FIFO named ".git" must not make
// us wait. The last component may not be a symbolic link.
std::optional<std::string> ReadSmallFile(const std::string& path);

}  // namespace spty
