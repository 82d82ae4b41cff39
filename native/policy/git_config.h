// Reads Git's configuration files as far as the search for repositories needs them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spty {

// The values of `key = value` lines, whatever their section: enough for core.worktree and submodule.*.path.
// Quotes, escapes, comments and lines that go on are read as Git reads them. `key` in lower case.
std::vector<std::string> GitConfigValues(std::string_view text, std::string_view key);

}  // namespace spty
