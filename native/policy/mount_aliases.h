// Other names of a place: the same part of a file system mounted a second time (bind mounts, WSL, ostree).
// Landlock's rules go by the mount that a path is reached through, so what is cut out of one is not cut out
// of the other.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace spty {

struct MountPoint {
  std::string device;     // "MAJOR:MINOR" of the superblock
  std::string root;       // which directory of it is mounted
  std::string place;      // where
  std::string type = {};  // of the file system

  bool operator==(const MountPoint&) const = default;
};

// The lines of /proc/self/mountinfo, in order; those that make no sense are left out.
std::vector<MountPoint> ParseMounts(std::string_view mountinfo);

// Answers for many paths. Lends the mounts.
class MountTable {
 public:
  explicit MountTable(const std::vector<MountPoint>& mounts);

  // Where else the canonical, absolute `path` can be found, or a part of what is below it. A place may be hidden by a
  // later mount: a name too many does no harm.
  std::vector<std::string> AliasesOf(const std::string& path) const;

 private:
  struct Place {
    const MountPoint* mount;
    bool alone;  // nothing else of its file system is mounted
  };
  const std::vector<MountPoint>& mounts_;
  std::unordered_map<std::string_view, Place> places_;
};

// Those of this process. Empty where the kernel does not tell them in this way.
Result<std::vector<MountPoint>> ReadMounts();

}  // namespace spty
