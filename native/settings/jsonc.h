// What editors add to JSON: comments and trailing commas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spty {

// The same text with every comment and every trailing comma overwritten by blanks, so that offsets, lines and
// columns stay those of the original. None if a block comment never ends.
std::optional<std::string> BlankOutJsonc(std::string_view text);

}  // namespace spty
