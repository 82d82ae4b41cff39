#include "policy/path_text.h"

#include <algorithm>

namespace spty {

bool IsWithin(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") return path.starts_with('/');
  return path.starts_with(ancestor) && (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

std::string TidyPath(std::string_view path) {
  std::string result;
  if (path.starts_with('/')) result = "/";
  for (size_t at = 0; at <= path.size();) {
    const size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, slash - at);
    at = slash + 1;
    if (part.empty() || part == ".") continue;
    if (!result.empty() && result.back() != '/') result += '/';
    result += part;
  }
  return result.empty() ? "." : result;
}

bool HasDotDot(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") ||
         path.find("/../") != std::string_view::npos;
}

bool IsPlainPath(std::string_view path) {
  if (path == "/") return true;
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos) return false;
  for (size_t at = 1; at <= path.size();) {
    const size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, slash - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = slash + 1;
  }
  return true;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string result(directory);
  if (!result.ends_with('/')) result += '/';
  return result += name;
}

std::string ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

std::string NameIn(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string ShortenHome(const std::string& path, const std::string& home) {
  if (home.empty() || home == "/" || !IsWithin(path, home)) return path;
  return "~" + path.substr(home.size());
}

}  // namespace spty
