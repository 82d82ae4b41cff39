// Paths as Seatbelt's profile language wants them. Nothing here looks at the disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spty {

// A string literal. An error for what a profile should not be trusted with: a control character or NUL.
Result<std::string> QuoteForProfile(std::string_view text);

// The path, and how else it can be spelled: /etc, /tmp and /var are links into /private. The kernel goes by
// the latter, but who asks it by name (sandbox_check) may use either.
std::vector<std::string> Spellings(const std::string& path);

// The same place below the mount point of the data volume, through which every path can be reached as well.
std::string OnDataVolume(const std::string& path);

// A regular expression literal for everything at or below the path, or for the path alone, letters in either
// case: a volume that ignores case has many names for what does not exist yet. Matches rather too much than
// too little.
std::string AnyCaseRegex(std::string_view path);
std::string AnyCaseRegexOfOne(std::string_view path);

}  // namespace spty
