// Other names of a place: the same part of a file system mounted a second time (bind mounts, subvolumes and
// their whole, WSL, ostree). A rule of Landlock is for a directory itself, under each of its names, and
// counts for all that is reached through it, also for what is mounted in there. So what must not be granted
// has to be cut out under all names that it has, and under those that it would have but for another mount.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace spty {

struct MountPoint {
  uint64_t id = 0;
  uint64_t parent = 0;  // the mount that it is mounted in
  std::string device;   // "MAJOR:MINOR" of the superblock
  std::string root;     // which directory of it is mounted; "/x//deleted" for one that has no name any more
  std::string place;    // where
  std::string type;     // of the file system

  bool operator==(const MountPoint&) const = default;
};

// The lines of /proc/self/mountinfo, in order; those that make no sense are left out.
std::vector<MountPoint> ParseMounts(std::string_view mountinfo);

// Answers for many paths. Lends the mounts.
class MountTable {
 public:
  explicit MountTable(const std::vector<MountPoint>& mounts);

  // The mounts that the canonical, absolute `path` leads through, from the root to the one that it is in. As
  // the kernel walks: which mounts are hidden by later ones is not for the places alone to say.
  std::vector<const MountPoint*> Through(std::string_view path) const;

  // Where else the canonical, absolute `path` can be found, or a part of what is below it, or a directory
  // above it. Such a name may be hidden by a mount: a name too many does no harm.
  std::vector<std::string> AliasesOf(const std::string& path) const;

  // Whether some file system is mounted more than once. If not, every directory has a single name.
  bool shares() const { return !shared_.empty(); }

 private:
  void Enter(std::string_view place, std::vector<const MountPoint*>& through) const;
  void AddNames(const std::string& device, std::string_view inside, size_t roots_below,
                const std::string& path, std::vector<std::string>& names) const;

  std::unordered_multimap<std::string_view, const MountPoint*> places_;
  // Those whose file system is mounted more than once.
  std::vector<const MountPoint*> shared_;
  // What the root directory's mount is mounted in, or the mount itself where the root is a directory inside
  // of one: it is not in the table then.
  uint64_t outside_ = 0;
};

// Those of this process. Empty where the kernel does not tell them in this way.
Result<std::vector<MountPoint>> ReadMounts();

}  // namespace spty
