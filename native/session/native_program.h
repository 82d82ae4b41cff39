// Programs of this machine's own kind.
#pragma once

#include <optional>
#include <string>

namespace spty {

// Whom the program names to load it, "" if it needs nobody; none if it is not one that the kernel can execute
// by itself (a script, another processor's, a damaged one), or if that cannot be told from its beginning.
// `fd` is open for reading.
std::optional<std::string> LoaderOf(int fd);

}  // namespace spty
