#include "policy/planted_links.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "policy/path_text.h"

namespace spty {
namespace {

bool Covers(const GrantRequest& outer, const GrantRequest& inner) {
  return outer.grant.rights >= inner.grant.rights && IsWithin(inner.grant.path(), outer.grant.path());
}

bool HasLinkIn(const GrantRequest& request, const std::string& place) {
  return std::any_of(request.link_directories.begin(), request.link_directories.end(),
                     [&](const std::string& directory) { return IsWithin(directory, place); });
}

bool LetsLinksBeMadeFor(const GrantRequest& writable, const GrantRequest& request) {
  return writable.grant.rights == Rights::kReadWrite && HasLinkIn(request, writable.grant.path());
}

// Moves what is planted, judged by the requests that no link led to and, with `by_linked`, by all of them.
void TakeOnce(std::vector<GrantRequest>& requests, const std::vector<std::string>& once_writable,
              bool by_linked, std::vector<GrantRequest>& taken) {
  const auto is_planted = [&](const GrantRequest& request) {
    bool planted = std::any_of(once_writable.begin(), once_writable.end(),
                               [&](const std::string& place) { return HasLinkIn(request, place); });
    for (const GrantRequest& other : requests) {
      if (!by_linked && !other.link_directories.empty()) continue;
      planted = planted || LetsLinksBeMadeFor(other, request);
      if (other.link_directories.empty() && Covers(other, request)) return false;
    }
    return planted;
  };
  std::vector<size_t> found;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].link_directories.empty() && is_planted(requests[i])) found.push_back(i);
  }
  for (size_t i : found) taken.push_back(std::move(requests[i]));
  for (auto at = found.rbegin(); at != found.rend(); ++at)
    requests.erase(requests.begin() + static_cast<ptrdiff_t>(*at));
}

// What root trusts instead: a place of the system that nobody else can write to, all the way up.
bool IsOfTheSystem(const std::string& directory, const std::string& canonical_home) {
  if (IsWithin(directory, canonical_home) || IsWithin(directory, "/proc")) return false;
  for (std::string place = directory;; place = ParentOf(place)) {
    const Result<PinnedPath> pin = PinPath(place);
    struct stat info {};
    if (!pin.ok() || !IsSamePlace(pin.value(), place) || !pin.value().fd.valid()) return false;
    if (fstat(pin.value().fd.get(), &info) != 0 || info.st_uid != 0 || (info.st_mode & 022) != 0)
      return false;
    if (place == "/") return true;
  }
}

bool IsInCredentialHole(const std::string& directory, const std::vector<Hole>& holes) {
  return std::any_of(holes.begin(), holes.end(), [&](const Hole& hole) {
    return hole.kind == HoleKind::kCredential && hole.denies_read && !hole.by_project_only &&
           IsWithin(directory, hole.path);
  });
}

}  // namespace

std::vector<std::string> LinkDirectoriesOfTheUser(PathResolver& resolver, const PathLookup& found) {
  std::vector<std::string> directories;
  for (const std::string& directory : found.link_directories) {
    if (!resolver.IsBeyondTheUser(directory)) directories.push_back(directory);
  }
  return directories;
}

std::vector<GrantRequest> TakePlanted(std::vector<GrantRequest>& requests,
                                      const std::vector<std::string>& once_writable) {
  std::vector<GrantRequest> taken;
  // First by what is writable without any link: a planted link to "/" must not make every other one suspect.
  TakeOnce(requests, once_writable, false, taken);
  TakeOnce(requests, once_writable, true, taken);
  return taken;
}

const std::string* FindUntrustedForSockets(const std::vector<std::string>& directories,
                                           const PolicyParts& settled, const std::string& canonical_home,
                                           const std::vector<std::string>& once_writable) {
  for (const std::string& directory : directories) {
    if (IsBeyondTheUser(directory)) continue;
    const bool was_writable =
        std::any_of(once_writable.begin(), once_writable.end(),
                    [&](const std::string& place) { return IsWithin(directory, place); });
    if (was_writable) return &directory;
    if (DecideFile(settled.grants, settled.holes, directory, Rights::kReadWrite).allowed) return &directory;
    if (geteuid() == 0 && IsOfTheSystem(directory, canonical_home)) continue;
    if (!IsInCredentialHole(directory, settled.holes)) return &directory;
  }
  return nullptr;
}

}  // namespace spty
