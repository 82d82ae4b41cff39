// Things by path.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace spty {

// What is asked about need not be a string of its own.
struct PathHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <typename T>
using PathMap = std::unordered_map<std::string, T, PathHash, std::equal_to<>>;

// Where the items of a vector are by their paths, so that those above a path are found by its prefixes: a
// policy has a hundred rules, a path half a dozen parents. Keeps no paths of its own: the vector is lent, it
// may grow, and what is in the index stays where it is. T has an overload of IndexedPath.
template <typename T>
class PathIndex {
 public:
  explicit PathIndex(const std::vector<T>& items) : items_(&items) {}
  PathIndex(const PathIndex&) = delete;
  PathIndex& operator=(const PathIndex&) = delete;

  void Reserve(size_t count) {
    if (2 * count > slots_.size()) Grow(std::bit_ceil(2 * count));
  }
  void Clear() {
    slots_.clear();
    used_ = 0;
  }

  // The position of the item at `path`, else none, and then it is `position`, from now on.
  std::optional<size_t> FindOrAdd(std::string_view path, size_t position) {
    if (2 * (used_ + 1) > slots_.size()) Grow(std::max(2 * slots_.size(), kFewest));
    Slot& slot = slots_[Find(path)];
    if (slot.item != 0) return slot.item - 1;
    slot = {PathHash{}(path), position + 1};
    ++used_;
    return std::nullopt;
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
  static constexpr size_t kFewest = 16;

  struct Slot {
    size_t hash = 0;
    size_t item = 0;  // 0: free, else one more than its position
  };

  // The slot of what is at `path`, or a free one. There always is one: half of them are.
  size_t Find(std::string_view path) const {
    const size_t hash = PathHash{}(path);
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at].item != 0 &&
           (slots_[at].hash != hash || IndexedPath((*items_)[slots_[at].item - 1]) != path))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void Grow(size_t size) {
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.item == 0) continue;
      size_t at = slot.hash & (size - 1);
      while (slots_[at].item != 0) at = (at + 1) & (size - 1);
      slots_[at] = slot;
    }
  }

  template <typename Visit>
  bool VisitOne(std::string_view path, Visit& visit) const {
    if (slots_.empty()) return false;
    const Slot& slot = slots_[Find(path)];
    return slot.item != 0 && visit(slot.item - 1);
  }

  const std::vector<T>* items_;
  std::vector<Slot> slots_;  // a power of two of them
  size_t used_ = 0;
};

}  // namespace spty
