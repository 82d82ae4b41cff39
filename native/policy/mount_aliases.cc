#include "policy/mount_aliases.h"

#include <algorithm>
#include <charconv>

#include "policy/path_text.h"

namespace spty {
namespace {

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// Blanks, newlines and backslashes are written as three octal digits.
std::string Unescape(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size() && IsOctal(text[at + 1]) && IsOctal(text[at + 2]) &&
        IsOctal(text[at + 3])) {
      result +=
          static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
      at += 3;
    } else {
      result += text[at];
    }
  }
  return result;
}

// "/a/b" and "/a/b/c" give "/c"; what is the same gives nothing.
std::string_view Below(std::string_view path, std::string_view ancestor) {
  return ancestor == "/" ? (path == "/" ? std::string_view() : path) : path.substr(ancestor.size());
}

std::string Append(const std::string& place, std::string_view below) {
  if (below.empty()) return place;
  return place == "/" ? std::string(below) : place + std::string(below);
}

bool ReadId(std::string_view text, uint64_t& id) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size();
}

// Of the mounts whose parent is not in the table: what can be reached from the root directory is in there, so
// they all have the same one. But the table is not read at one moment: the root directory's own mount counts
// first.
uint64_t ParentOfTheFirst(const std::vector<MountPoint>& mounts) {
  uint64_t parent = 0;
  for (const MountPoint& mount : mounts) {
    // The first of all is mounted in itself.
    const bool is_known = mount.parent != mount.id &&
                          std::any_of(mounts.begin(), mounts.end(),
                                      [&](const MountPoint& other) { return other.id == mount.parent; });
    if (is_known) continue;
    if (mount.place == "/") return mount.parent;
    if (parent == 0) parent = mount.parent;
  }
  return parent;
}

}  // namespace

std::vector<MountPoint> ParseMounts(std::string_view mountinfo) {
  std::vector<MountPoint> mounts;
  for (size_t at = 0; at < mountinfo.size();) {
    const size_t end = std::min(mountinfo.find('\n', at), mountinfo.size());
    std::string_view line = mountinfo.substr(at, end - at);
    at = end + 1;
    // ID PARENT MAJOR:MINOR ROOT PLACE ...
    std::string_view words[5];
    for (std::string_view& word : words) {
      const size_t blank = std::min(line.find(' '), line.size());
      word = line.substr(0, blank);
      line.remove_prefix(std::min(blank + 1, line.size()));
    }
    // ... OPTIONS [FIELDS] - TYPE SOURCE OPTIONS
    const size_t dash = std::min(line.find("- "), line.size());
    line.remove_prefix(std::min(dash + 2, line.size()));
    const std::string_view type = line.substr(0, line.find(' '));
    MountPoint mount{0, 0, std::string(words[2]), Unescape(words[3]), Unescape(words[4]), std::string(type)};
    if (!ReadId(words[0], mount.id) || !ReadId(words[1], mount.parent)) continue;
    if (IsPlainPath(mount.place)) mounts.push_back(std::move(mount));
  }
  return mounts;
}

MountTable::MountTable(const std::vector<MountPoint>& mounts) : outside_(ParentOfTheFirst(mounts)) {
  places_.reserve(mounts.size());
  std::unordered_map<std::string_view, size_t> of_device;
  for (const MountPoint& mount : mounts) {
    places_.emplace(mount.place, &mount);
    ++of_device[mount.device];
  }
  if (of_device.size() == mounts.size()) return;
  for (const MountPoint& mount : mounts) {
    if (of_device[mount.device] > 1) shared_.push_back(&mount);
  }
}

// From the mount that the way has come to into what is mounted at that place of it, and upon that.
void MountTable::Enter(std::string_view place, std::vector<const MountPoint*>& through) const {
  const auto [begin, end] = places_.equal_range(place);
  // Each is entered once at most.
  for (auto turn = begin; turn != end; ++turn) {
    const uint64_t current = through.empty() ? outside_ : through.back()->id;
    const auto next = std::find_if(begin, end, [&](const auto& at) { return at.second->parent == current; });
    if (next == end) return;
    through.push_back(next->second);
    // What is mounted upon the root directory is not entered: paths begin below it.
    if (place == "/") return;
  }
}

std::vector<const MountPoint*> MountTable::Through(std::string_view path) const {
  std::vector<const MountPoint*> through;
  if (!path.starts_with('/')) return through;
  Enter("/", through);
  for (size_t end = 0; end != std::string_view::npos && path != "/";) {
    end = path.find('/', end + 1);
    Enter(path.substr(0, end), through);
  }
  return through;
}

// Names of what is at `inside` in its file system, by the mounts whose root is shorter than `roots_below`.
void MountTable::AddNames(const std::string& device, std::string_view inside, size_t roots_below,
                          const std::string& path, std::vector<std::string>& names) const {
  for (const MountPoint* mount : shared_) {
    if (mount->device != device || mount->root.size() >= roots_below) continue;
    std::string name;
    if (IsWithin(inside, mount->root)) {
      name = Append(mount->place, Below(inside, mount->root));
    } else if (IsWithin(mount->root, inside)) {
      name = mount->place;
    }
    const bool is_known =
        name.empty() || IsWithin(name, path) || std::find(names.begin(), names.end(), name) != names.end();
    if (!is_known) names.push_back(std::move(name));
  }
}

std::vector<std::string> MountTable::AliasesOf(const std::string& path) const {
  std::vector<std::string> aliases;
  if (shared_.empty()) return aliases;
  const std::vector<const MountPoint*> through = Through(path);
  for (size_t i = 0; i < through.size(); ++i) {
    const MountPoint& mount = *through[i];
    const std::string inside = Append(mount.root, Below(path, mount.place));
    if (i + 1 == through.size()) {
      AddNames(mount.device, inside, std::string::npos, path, aliases);
      continue;
    }
    // Of a mount on the way the directories above the place of the next one count, and it has none if that
    // lies upon it.
    const std::string_view next = Below(through[i + 1]->place, mount.place);
    const size_t root_size = mount.root == "/" ? 0 : mount.root.size();
    if (!next.empty()) AddNames(mount.device, inside, root_size + next.size(), path, aliases);
  }
  // What is mounted below the path has names elsewhere.
  for (const MountPoint* mount : shared_) {
    if (IsWithin(mount->place, path)) AddNames(mount->device, mount->root, std::string::npos, path, aliases);
  }
  return aliases;
}

}  // namespace spty
