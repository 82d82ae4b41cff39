#include "policy/second_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "policy/path_text.h"

namespace spty {
namespace {

using FileId = std::pair<uint64_t, uint64_t>;  // device, inode

// Which directories are above credentials, and the rest of the way from there.
class Ways {
 public:
  void Add(const Hole& hole) {
    for (std::string above = ParentOf(hole.path);; above = ParentOf(above)) {
      if (const auto id = IdOf(above)) below_.emplace(*id, Way{above, RestOf(hole.path, above), hole.origin});
      if (above == "/") return;
    }
  }

  // The names of credentials in a granted directory, if it is one of these by another name.
  std::vector<Hole> NamesIn(const Grant& grant) const {
    std::vector<Hole> names;
    const auto [begin, end] = below_.equal_range({grant.pin.device, grant.pin.inode});
    for (auto at = begin; at != end; ++at) {
      const Way& way = at->second;
      if (way.directory == grant.path()) continue;
      Hole name;
      name.path = name.spelled = JoinPath(grant.path(), way.rest);
      name.origin = way.origin;
      names.push_back(std::move(name));
    }
    return names;
  }

 private:
  struct Way {
    std::string directory;
    std::string rest;
    Origin origin;
  };

  static std::string RestOf(const std::string& path, const std::string& above) {
    return path.substr(above == "/" ? 1 : above.size() + 1);
  }

  // None if nothing is there.
  std::optional<FileId> IdOf(const std::string& path) {
    const auto known = ids_.find(path);
    if (known != ids_.end()) return known->second;
    struct stat info {};
    std::optional<FileId> id;
    if (lstat(path.c_str(), &info) == 0) id = FileId{info.st_dev, info.st_ino};
    return ids_.emplace(path, id).first->second;
  }

  std::multimap<FileId, Way> below_;
  std::map<std::string, std::optional<FileId>> ids_;
};

// Then it is not granted as a whole, and the keeper knows the directories above what is protected in it.
bool HoldsCredentials(const Grant& grant, const std::vector<Hole>& holes) {
  return std::ranges::any_of(holes, [&](const Hole& hole) {
    return hole.kind == HoleKind::kCredential && hole.path != grant.path() &&
           IsWithin(hole.path, grant.path());
  });
}

}  // namespace

void CloseSecondNames(PolicyBuilder& builder) {
  if (!builder.mounts_share) return;
  Ways ways;
  size_t known = 0;
  // What was closed may itself lead through a directory with another name. Each grant is closed in once.
  for (bool again = true; again;) {
    again = false;
    for (; known < builder.rules.holes().size(); ++known) {
      const Hole& hole = builder.rules.holes()[known];
      if (hole.kind == HoleKind::kCredential) ways.Add(hole);
    }
    for (const GrantRequest& request : builder.rules.requests()) {
      if (HoldsCredentials(request.grant, builder.rules.holes())) continue;
      for (Hole& name : ways.NamesIn(request.grant)) {
        builder.rules.AddHole(std::move(name));
        again = true;
      }
    }
  }
}

}  // namespace spty
