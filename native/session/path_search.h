// Where execvp(3) would look for a program, as a list made before anything is forked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spty {

// `file` itself if it contains a slash; otherwise one path per entry of the PATH in `env` (NAME=value), an
// empty entry meaning the current directory. Without a PATH: the C library's default. Relative results are
// meant to be resolved after the child has changed its directory.
std::vector<std::string> ProgramCandidates(std::string_view file, const std::vector<std::string>& env);

}  // namespace spty
