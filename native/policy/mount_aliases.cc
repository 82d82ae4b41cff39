#include "policy/mount_aliases.h"

#include <algorithm>

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
    MountPoint mount{std::string(words[2]), Unescape(words[3]), Unescape(words[4]), std::string(type)};
    // "/x//deleted" and the like: no directory that anybody can name.
    if (IsPlainPath(mount.root) && IsPlainPath(mount.place)) mounts.push_back(std::move(mount));
  }
  return mounts;
}

MountTable::MountTable(const std::vector<MountPoint>& mounts) : mounts_(mounts) {
  places_.reserve(mounts.size());
  std::unordered_map<std::string_view, size_t> of_device;
  for (const MountPoint& mount : mounts_) ++of_device[mount.device];
  // Of those at one place the last is the one that is seen.
  for (const MountPoint& mount : mounts_)
    places_.insert_or_assign(mount.place, Place{&mount, of_device[mount.device] == 1});
}

std::vector<std::string> MountTable::AliasesOf(const std::string& path) const {
  if (!path.starts_with('/')) return {};
  // The mount that the path is in: the nearest.
  auto place = places_.end();
  for (std::string_view at = path;; at = at.substr(0, std::max<size_t>(at.rfind('/'), 1))) {
    place = places_.find(at);
    if (place != places_.end() || at.size() <= 1) break;
  }
  std::vector<std::string> aliases;
  if (place == places_.end() || place->second.alone) return aliases;
  const MountPoint* own = place->second.mount;
  const std::string inside = Append(own->root, Below(path, own->place));
  for (const MountPoint& mount : mounts_) {
    if (mount.device != own->device) continue;
    std::string alias;
    if (IsWithin(inside, mount.root)) {
      alias = Append(mount.place, Below(inside, mount.root));
    } else if (IsWithin(mount.root, inside)) {
      alias = mount.place;
    }
    const bool known = alias.empty() || IsWithin(alias, path) ||
                       std::find(aliases.begin(), aliases.end(), alias) != aliases.end();
    if (!known) aliases.push_back(std::move(alias));
  }
  return aliases;
}

}  // namespace spty
