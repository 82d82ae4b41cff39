// Paths as text. Nothing here looks at the disk.
#pragma once

#include <string>
#include <string_view>

namespace spty {

// Whether `path` is `ancestor` or below it. Both absolute and without doubled or trailing slashes.
bool IsWithin(std::string_view path, std::string_view ancestor);

// Doubled and trailing slashes and "." parts removed. ".." stays: what it leads to is for the disk to say.
std::string TidyPath(std::string_view path);
// The same of one that is not needed any more.
std::string Tidied(std::string path);
// Whether a ".." part is left in it.
bool HasDotDot(std::string_view path);

// Whether the text can be the kernel's own name of a file: absolute, nothing to tidy, no ".." and no NUL.
bool IsPlainPath(std::string_view path);

std::string JoinPath(std::string_view directory, std::string_view name);
// "/" for "/a"; "/" for "/".
std::string ParentOf(std::string_view path);
std::string NameIn(std::string_view path);

// "~/x" for paths below home; for display.
std::string ShortenHome(const std::string& path, const std::string& home);

}  // namespace spty
