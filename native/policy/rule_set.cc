#include "policy/rule_set.h"

#include <algorithm>

#include "policy/path_text.h"
#include "settings/text.h"

namespace spty {
namespace {

bool Denies(const Hole& hole, Rights rights) { return hole.denies_read || rights == Rights::kReadWrite; }

// Whether a hole separates `inner` from `outer`: it lies below (or at) the outer grant and above (or at) the
// inner one.
bool Separated(const std::vector<Hole>& holes, const Grant& outer, const Grant& inner) {
  return std::any_of(holes.begin(), holes.end(), [&](const Hole& hole) {
    return Denies(hole, inner.rights) && IsWithin(inner.path(), hole.path) &&
           IsWithin(hole.path, outer.path()) && hole.path != outer.path();
  });
}

}  // namespace

void RuleSet::AddHole(Hole hole) {
  for (Hole& known : holes_) {
    if (known.path != hole.path) continue;
    known.denies_read = known.denies_read || hole.denies_read;
    // The later layer decides which grants may open it.
    if (hole.origin.layer > known.origin.layer) known.origin = hole.origin;
    return;
  }
  holes_.push_back(std::move(hole));
}

bool RuleSet::MayOpen(const GrantRequest& request, const Hole& hole) const {
  // The pieces that belong to one protection fit together by construction.
  if (request.grant.kind == GrantKind::kDevice && hole.kind == HoleKind::kDevice) return true;
  if (request.grant.kind == GrantKind::kGit && hole.kind == HoleKind::kGit) return true;
  if (!request.is_explicit || request.grant.origin.layer < hole.origin.layer) return false;
  // A link that leads into the hole is not the same as its name.
  if (HasDotDot(request.spelled)) return false;
  return IsWithin(request.spelled, hole.spelled) || IsWithin(request.spelled, hole.path);
}

bool RuleSet::SettleOne(GrantRequest& request, std::vector<SkippedPath>& skipped) {
  Grant& grant = request.grant;
  for (auto hole = holes_.begin(); hole != holes_.end();) {
    if (!IsWithin(grant.path(), hole->path) || !Denies(*hole, grant.rights)) {
      ++hole;
      continue;
    }
    if (!MayOpen(request, *hole)) {
      skipped.push_back({request.text, grant.path(), SkipReason::kInsideHole,
                         Quoted(grant.path()) + " is protected (" + Describe(hole->origin) +
                             "); to grant it all the same, write that very path.",
                         grant.origin});
      if (hole->denies_read) return false;
      grant.rights = Rights::kReadExecute;
      ++hole;
      continue;
    }
    // Below the hole both stand: the longer path decides.
    if (grant.path() != hole->path) {
      ++hole;
    } else if (grant.rights == Rights::kReadWrite) {
      hole = holes_.erase(hole);
    } else {
      // Reading was granted; a wider writable grant must still not reach it.
      hole->denies_read = false;
      ++hole;
    }
  }
  return true;
}

void RuleSet::Settle(std::vector<Grant>& grants, std::vector<Hole>& holes,
                     std::vector<SkippedPath>& skipped) {
  // The strongest first: after "read and write" has opened a hole, "read" at the same place finds none.
  std::stable_sort(requests_.begin(), requests_.end(), [](const GrantRequest& a, const GrantRequest& b) {
    return a.grant.rights > b.grant.rights;
  });
  for (GrantRequest& request : requests_) {
    if (SettleOne(request, skipped)) grants.push_back(std::move(request.grant));
  }
  requests_.clear();
  holes = std::move(holes_);
  ReduceToCover(holes, grants);
  for (Hole& hole : holes) {
    for (const Grant& grant : grants) {
      if (!IsWithin(hole.path, grant.path()) || hole.path == grant.path()) continue;
      if (hole.denies_read) hole.cuts_read = true;
      if (grant.rights == Rights::kReadWrite) hole.cuts_write = true;
    }
  }
}

void ReduceToCover(const std::vector<Hole>& holes, std::vector<Grant>& grants) {
  // Ancestors before descendants, and at one place the strongest first.
  std::stable_sort(grants.begin(), grants.end(), [](const Grant& a, const Grant& b) {
    return a.path() != b.path() ? a.path() < b.path() : a.rights > b.rights;
  });
  std::vector<Grant> kept;
  for (Grant& grant : grants) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Grant& outer) {
      return outer.rights >= grant.rights && IsWithin(grant.path(), outer.path()) &&
             !Separated(holes, outer, grant);
    });
    if (!covered) kept.push_back(std::move(grant));
  }
  grants = std::move(kept);
}

}  // namespace spty
