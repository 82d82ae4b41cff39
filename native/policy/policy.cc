#include "policy/policy.h"

#include <algorithm>

#include "policy/path_text.h"

namespace spty {

bool NetworkPolicy::Allows(std::string_view untrusted_host, uint16_t port) const {
  if (mode == NetworkMode::kAll) return true;
  if (mode == NetworkMode::kNone) return false;
  // What is no host name, an address for example, can be checked against nothing.
  if (!NormalizeHost(untrusted_host)) return false;
  const auto matches = [&](const auto& item) { return item.value.Matches(untrusted_host, port); };
  if (std::any_of(denied.items.begin(), denied.items.end(), matches)) return false;
  return all_hosts || std::any_of(hosts.items.begin(), hosts.items.end(), matches);
}

Policy::Policy(PolicyParts parts) : parts_(std::move(parts)) {
  if (parts_.settings == nullptr) parts_.settings = std::make_shared<const Settings>();
}

Limits Policy::limits() const {
  return {settings().max_processes, settings().max_memory_bytes, settings().max_cpu_percent};
}

bool IsGrantedAround(const Grant& grant, const Hole& hole) {
  if (hole.path == grant.path() || !IsWithin(hole.path, grant.path())) return false;
  const bool writable = grant.rights == Rights::kReadWrite;
  if (!hole.denies_read && !writable) return false;
  return !writable || hole.kind != HoleKind::kGit;
}

bool MayHoldSockets(const Grant& grant) {
  if (grant.rights != Rights::kReadWrite) return false;
  if (grant.kind == GrantKind::kTemp) return true;
  if (grant.kind != GrantKind::kProject) return false;
  // Where servers of all kinds have theirs: tmux, X11, agents, buses.
  constexpr std::string_view kShared[] = {"/tmp",         "/var/tmp",         "/dev/shm",
                                          "/run/user",    "/var/run",         "/private/tmp",
                                          "/private/var", "/private/var/tmp", "/private/var/run"};
  for (std::string_view place : kShared) {
    if (IsWithin(place, grant.path())) return false;
  }
  return ParentOf(grant.path()) != "/run/user";
}

FileDecision DecideFile(const std::vector<Grant>& grants, const std::vector<Hole>& holes,
                        std::string_view canonical_path, Rights rights) {
  FileDecision decision;
  for (const Hole& hole : holes) {
    if (!hole.denies_read && rights != Rights::kReadWrite) continue;
    if (!IsWithin(canonical_path, hole.path)) continue;
    if (decision.hole == nullptr || hole.path.size() > decision.hole->path.size()) decision.hole = &hole;
  }
  for (const Grant& grant : grants) {
    if (grant.rights < rights || !IsWithin(canonical_path, grant.path())) continue;
    if (decision.hole != nullptr && grant.path().size() < decision.hole->path.size()) continue;
    decision.grant = &grant;
  }
  decision.allowed = decision.grant != nullptr;
  if (decision.allowed) decision.hole = nullptr;
  return decision;
}

FileDecision Policy::Decide(std::string_view canonical_path, Rights rights) const {
  if (confined()) return DecideFile(grants(), holes(), canonical_path, rights);
  FileDecision decision;
  decision.allowed = true;
  return decision;
}

const SocketRule* Policy::FindSocketRule(std::string_view canonical_path) const {
  for (const SocketRule& rule : unix_sockets()) {
    if (IsWithin(canonical_path, rule.path)) return &rule;
  }
  return nullptr;
}

}  // namespace spty
