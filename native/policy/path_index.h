// Rules by path, so that those above a path are found by its prefixes: a policy has a hundred rules, a path
// half a dozen parents.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace spty {

class PathIndex {
 public:
  void Reserve(size_t count) { positions_.reserve(count); }

  // The position that `path` has already, else none, and then it is `position`.
  std::optional<size_t> FindOrAdd(const std::string& path, size_t position) {
    const auto [at, added] = positions_.try_emplace(path, position);
    return added ? std::nullopt : std::optional<size_t>(at->second);
  }

  // Calls visit(position) for what is at `path` or above it, from the root downwards, until that returns
  // true. `path` is absolute and tidy.
  template <typename Visit>
  bool AnyAtOrAbove(std::string_view path, Visit visit) const {
    if (VisitOne("/", visit)) return true;
    if (path == "/") return false;
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      if (VisitOne(path.substr(0, end), visit)) return true;
      if (end == std::string_view::npos) return false;
    }
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  template <typename Visit>
  bool VisitOne(std::string_view path, Visit& visit) const {
    const auto found = positions_.find(path);
    return found != positions_.end() && visit(found->second);
  }

  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> positions_;
};

}  // namespace spty
