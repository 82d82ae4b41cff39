#include "policy/path_text.h"

#include <algorithm>

namespace spty {

bool IsWithin(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") return path.starts_with('/');
  return path.starts_with(ancestor) && (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

namespace {

// Most are.
bool IsTidy(std::string_view path) {
  if (path.size() < 2 || path.ends_with('/')) return path == "/";
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const std::string_view rest = path.substr(slash + 1);
    if (rest.starts_with('/') || rest == "." || rest.starts_with("./")) return false;
  }
  return !path.starts_with("./");
}

}  // namespace

std::string TidyPath(std::string_view path) {
  if (IsTidy(path)) return std::string(path);
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

std::string Tidied(std::string path) {
  if (!IsTidy(path)) path = TidyPath(path);
  return path;
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
