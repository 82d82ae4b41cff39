#include "policy/second_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/eintr.h"
#include "policy/path_text.h"
#include "settings/text.h"

namespace spty {
namespace {

using FileId = std::pair<uint64_t, uint64_t>;  // device, inode

// Which directories are above credentials, and the rest of the way from there.
class Ways {
 public:
  Failure Add(const Hole& hole) {
    for (std::string above = ParentOf(hole.path);; above = ParentOf(above)) {
      const Result<std::optional<FileId>> id = IdOf(above);
      if (!id.ok()) {
        return PolicyError(hole.origin,
                           "Whether " + Quoted(hole.path) +
                               " can be read in a second place cannot be told: " + Quoted(above) + ": " +
                               std::strerror(id.error().err) + ".",
                           "Make it accessible.", above, id.error().err);
      }
      if (id.value()) below_.emplace(*id.value(), Way{above, RestOf(hole.path, above), hole.origin});
      if (above == "/") return std::nullopt;
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

  // None if nothing is there, or nothing that this user, and so a session, can reach.
  Result<std::optional<FileId>> IdOf(const std::string& path) {
    const auto known = ids_.find(path);
    if (known != ids_.end()) return known->second;
    struct stat info {};
    std::optional<FileId> id;
    if (RetryEintr([&] { return lstat(path.c_str(), &info); }) == 0) {
      id = FileId{info.st_dev, info.st_ino};
    } else if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
      return Error{Stage::kPolicy, errno, path};
    }
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

Failure CloseSecondNames(PolicyBuilder& builder) {
  if (!builder.mounts_share) return std::nullopt;
  Ways ways;
  size_t known = 0;
  // What was closed may itself lead through a directory with another name. Each grant is closed in once, so
  // that this ends.
  while (known < builder.rules.holes().size()) {
    for (; known < builder.rules.holes().size(); ++known) {
      const Hole& hole = builder.rules.holes()[known];
      if (hole.kind != HoleKind::kCredential) continue;
      if (Failure failure = ways.Add(hole)) return failure;
    }
    for (const GrantRequest& request : builder.rules.requests()) {
      if (HoldsCredentials(request.grant, builder.rules.holes())) continue;
      for (Hole& name : ways.NamesIn(request.grant)) builder.rules.AddHole(std::move(name));
    }
  }
  return std::nullopt;
}

}  // namespace spty
