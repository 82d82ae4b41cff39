#include "policy/rule_set.h"

#include <algorithm>

#include "policy/path_text.h"
#include "policy/planted_links.h"
#include "settings/text.h"

namespace spty {
namespace {

bool Denies(const Hole& hole, Rights rights) { return hole.denies_read || rights == Rights::kReadWrite; }

// Whether a hole separates `inner` from `outer`: it lies below the outer grant and above (or at) the inner
// one.
bool Separated(const std::vector<Hole>& holes, const PathIndex<Hole>& index, const Grant& outer,
               const Grant& inner) {
  return index.AnyAtOrAbove(inner.path(), [&](size_t at) {
    return holes[at].path.size() > outer.path().size() && Denies(holes[at], inner.rights);
  });
}

void Fill(PathIndex<Hole>& index, const std::vector<Hole>& holes) {
  index.Reserve(holes.size());
  // Of two at one place the stricter one counts.
  for (bool denies_read : {true, false}) {
    for (size_t i = 0; i < holes.size(); ++i) {
      if (holes[i].denies_read == denies_read) index.FindOrAdd(holes[i].path, i);
    }
  }
}

// Marks the holes that lie below a grant which would reach into them.
void MarkCuts(const std::vector<Grant>& grants, std::vector<Hole>& holes) {
  PathIndex<Grant> index(grants);
  index.Reserve(grants.size());
  for (size_t i = 0; i < grants.size(); ++i) index.FindOrAdd(grants[i].path(), i);
  for (Hole& hole : holes) {
    index.AnyAtOrAbove(hole.path, [&](size_t at) {
      if (grants[at].path().size() == hole.path.size()) return false;
      if (hole.denies_read) hole.cuts_read = true;
      if (grants[at].rights == Rights::kReadWrite) hole.cuts_write = true;
      return false;
    });
  }
}

}  // namespace

void RuleSet::AddHole(Hole hole) {
  hole.by_project_only = hole.origin.layer == Layer::kProject;
  const std::optional<size_t> at = index_.FindOrAdd(hole.path, holes_.size());
  if (!at) {
    holes_.push_back(std::move(hole));
    return;
  }
  Hole& known = holes_[*at];
  known.denies_read = known.denies_read || hole.denies_read;
  known.by_project_only = known.by_project_only && hole.by_project_only;
  // The later layer decides which grants may open it.
  if (hole.origin.layer > known.origin.layer) known.origin = hole.origin;
}

std::vector<GrantRequest> RuleSet::TakePlanted(const std::vector<std::string>& once_writable) {
  return spty::TakePlanted(requests_, once_writable);
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
  // From the outside inwards: a grant that does not get past an outer hole opens no inner one.
  const bool refused = index_.AnyAtOrAbove(grant.path(), [&](size_t at) {
    Hole& hole = holes_[at];
    if (opened_[at] || !Denies(hole, grant.rights)) return false;
    if (!MayOpen(request, hole)) {
      skipped.push_back({request.text, grant.path(), SkipReason::kInsideHole,
                         Quoted(grant.path()) + " is protected (" + Describe(hole.origin) +
                             "); to grant it all the same, write that very path.",
                         grant.origin});
      grant.rights = Rights::kReadExecute;
      return hole.denies_read;
    }
    // Below the hole both stand: the longer path decides.
    if (grant.path() != hole.path) return false;
    if (grant.rights == Rights::kReadWrite) {
      opened_[at] = true;
    } else {
      // Reading was granted; a wider writable grant must still not reach it.
      hole.denies_read = false;
    }
    return false;
  });
  return !refused;
}

void RuleSet::Settle(std::vector<Grant>& grants, std::vector<Hole>& holes,
                     std::vector<SkippedPath>& skipped) {
  opened_.assign(holes_.size(), false);
  // The strongest first: after "read and write" has opened a hole, "read" at the same place finds none.
  std::vector<GrantRequest*> order;
  order.reserve(requests_.size());
  for (GrantRequest& request : requests_) order.push_back(&request);
  std::stable_sort(order.begin(), order.end(), [](const GrantRequest* a, const GrantRequest* b) {
    return a->grant.rights > b->grant.rights;
  });
  grants.reserve(order.size());
  for (GrantRequest* request : order) {
    if (SettleOne(*request, skipped)) grants.push_back(std::move(request->grant));
  }
  requests_.clear();
  holes.reserve(holes_.size());
  for (size_t i = 0; i < holes_.size(); ++i) {
    if (!opened_[i]) holes.push_back(std::move(holes_[i]));
  }
  holes_.clear();
  index_.Clear();
  ReduceToCover(holes, grants);
  MarkCuts(grants, holes);
}

void ReduceToCover(const std::vector<Hole>& holes, std::vector<Grant>& grants) {
  PathIndex<Hole> hole_index(holes);
  Fill(hole_index, holes);
  // Ancestors before descendants, and at one place the strongest first. Pointers, as grants are large.
  std::vector<Grant*> order;
  order.reserve(grants.size());
  for (Grant& grant : grants) order.push_back(&grant);
  std::stable_sort(order.begin(), order.end(), [](const Grant* a, const Grant* b) {
    const int by_path = a->path().compare(b->path());
    return by_path != 0 ? by_path < 0 : a->rights > b->rights;
  });
  std::vector<Grant> kept;
  kept.reserve(grants.size());
  PathIndex<Grant> kept_index(kept);
  kept_index.Reserve(grants.size());
  for (Grant* grant : order) {
    const bool covered = kept_index.AnyAtOrAbove(grant->path(), [&](size_t at) {
      return kept[at].rights >= grant->rights && !Separated(holes, hole_index, kept[at], *grant);
    });
    if (covered) continue;
    // Two at one place are never both kept: nothing separates them, and the strongest came first.
    kept_index.FindOrAdd(grant->path(), kept.size());
    kept.push_back(std::move(*grant));
  }
  grants = std::move(kept);
}

}  // namespace spty
