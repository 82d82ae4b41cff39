#include "policy/suggest.h"

#include <algorithm>

#include "policy/git_repository.h"
#include "policy/path_text.h"
#include "settings/defaults.h"
#include "settings/text.h"

namespace spty {
namespace {

// Whoever may talk to one of these may do whatever its owner may.
constexpr std::string_view kPowerfulSockets[] = {
    "docker.sock", "containerd.sock", "podman.sock", "system_bus_socket",
    "bus",         "private",         "S.gpg-agent", "agent.sock"};

const char* ListFor(Access access) {
  switch (access) {
    case Access::kExecute:
      return "additional_executable_paths";
    case Access::kWrite:
      return "additional_read_write_paths";
    case Access::kRead:
    case Access::kConnect:
      break;
  }
  return "additional_read_only_paths";
}

std::string CautionFor(const Policy& policy, PathResolver& resolver, const std::string& path) {
  for (std::string_view credential : DefaultDeniedReadPaths(policy.settings().platform)) {
    const Expansion place = resolver.Expand(credential);
    if (IsWithin(path, place.text)) {
      return "It holds credentials (" + std::string(credential) +
             "); whatever runs in the session could use them.";
    }
  }
  const std::string home = resolver.home();
  if (IsWithin(home, path)) return "It contains the whole home directory.";
  if (IsWithin(path, "/dev")) return "It is a device.";
  return {};
}

Suggestion SuggestGit(const Policy& policy, Access access, const PathLookup& target) {
  Suggestion suggestion;
  suggestion.pointer = "/git_access";
  suggestion.value = "read";
  if (access == Access::kWrite) {
    suggestion.value = "full";
    for (const GitRepository& repo : policy.repositories()) {
      for (const std::string& directory : {repo.git_dir, repo.common_dir}) {
        if (directory.empty() || !repo.verified || !IsWithin(target.path, directory)) continue;
        if (target.path == directory) continue;
        const std::string below = target.path.substr(directory.size() + 1);
        const std::string first = below.substr(0, below.find('/'));
        if (!IsGitCommandSource(first)) suggestion.value = "commit";
      }
    }
  }
  suggestion.text = "Set git_access to \"" + suggestion.value + "\".";
  if (suggestion.value == "full") {
    suggestion.caution = "Hooks and configuration there make Git run commands outside the session.";
  }
  return suggestion;
}

// What the project (or an approval) forbids is not opened by the user's list, which ranks below it.
Suggestion SuggestRemoval(const Hole& hole) {
  Suggestion suggestion;
  suggestion.text = "Remove " + hole.origin.pointer + " from the " +
                    std::string(LayerName(hole.origin.layer)) + " settings, which deny it.";
  return suggestion;
}

// Whether a grant of the place would not reach what is new in it.
bool HoldsDenied(const Policy& policy, PathResolver& resolver, const std::string& place) {
  for (const auto& denied : policy.settings().denied_read.items) {
    const Expansion expansion = resolver.Expand(denied.value);
    if (expansion.outcome == Expansion::Outcome::kPath && IsWithin(expansion.text, place)) return true;
  }
  return false;
}

}  // namespace

Suggestion SuggestCreation(const Policy& policy, const std::string& canonical_path) {
  Suggestion suggestion;
  suggestion.text =
      "Create " + ShortenHome(canonical_path, policy.home()) + " before the session is started.";
  return suggestion;
}

Suggestion SuggestForPath(const Policy& policy, PathResolver& resolver, Access access,
                          const PathLookup& target, const Hole* hole) {
  if (hole != nullptr && hole->kind == HoleKind::kGit) return SuggestGit(policy, access, target);
  if (hole != nullptr && hole->origin.layer > Layer::kUserPlatform) return SuggestRemoval(*hole);
  // A grant needs something to hold on to: the nearest directory that exists.
  std::string place = target.path;
  if (!target.pin) {
    for (place = ParentOf(place); place != "/"; place = ParentOf(place)) {
      const Result<PathLookup> found = resolver.LookUp(place);
      if (found.ok() && found.value().pin) break;
    }
  }
  Suggestion suggestion;
  const bool too_wide =
      IsWithin(resolver.home(), place) || place == "/" || HoldsDenied(policy, resolver, place);
  if (!target.pin && (too_wide || hole != nullptr)) {
    suggestion.text = "Create " + ShortenHome(target.path, resolver.home()) + " first, then add it to " +
                      ListFor(access) + ".";
    return suggestion;
  }
  suggestion.pointer = std::string("/") + ListFor(access) + "/-";
  suggestion.value = ShortenHome(place, resolver.home());
  suggestion.text = "Add " + suggestion.value + " to " + ListFor(access) + ".";
  suggestion.caution = CautionFor(policy, resolver, place);
  return suggestion;
}

Suggestion SuggestForSocket(const Policy& policy, const std::string& canonical_path) {
  Suggestion suggestion;
  suggestion.pointer = "/unix_sockets/-";
  suggestion.value = ShortenHome(canonical_path, policy.home());
  suggestion.text = "Add " + suggestion.value + " to unix_sockets.";
  const std::string name = NameIn(canonical_path);
  if (std::find(std::begin(kPowerfulSockets), std::end(kPowerfulSockets), name) !=
      std::end(kPowerfulSockets)) {
    suggestion.caution = "Whoever may talk to it can start programs or read files outside the session.";
  }
  return suggestion;
}

Suggestion SuggestForHost(const Policy& policy, const std::string& host, uint16_t port) {
  Suggestion suggestion;
  for (const auto& denied : policy.network().denied.items) {
    if (host.empty() || !denied.value.Matches(host, port)) continue;
    suggestion.text =
        "Remove " + denied.value.ToString() + " from denied_domains (" + Describe(denied.origin) + ").";
    return suggestion;
  }
  if (host.empty()) {
    suggestion.pointer = "/allow_network";
    suggestion.value = "true";
    suggestion.text =
        "An address cannot be allowed alone: use the host's name, or set allow_network to true.";
    suggestion.caution = "That opens the whole network.";
    return suggestion;
  }
  suggestion.pointer = "/network_hosts/-";
  suggestion.value = host;
  suggestion.text =
      "Add " + host +
      " to network_hosts. (Not enforced yet: while strict is true such a session does not start, "
      "and else it has no network. Until then only allow_network helps, which opens all of it.)";
  return suggestion;
}

}  // namespace spty
