// Grants and holes while a policy is made: which hole a grant may open, and the smallest set that says the
// same.
#pragma once

#include <string>
#include <vector>

#include "policy/path_index.h"
#include "policy/policy.h"

namespace spty {

struct GrantRequest {
  Grant grant;
  // The absolute path before links were resolved, and the text of the setting.
  std::string spelled;
  std::string text;
  // Somebody wrote this very path down: the user, an approval, the caller. Default lists never open a hole.
  bool is_explicit = false;
  // The directories of the links that led to the grant, without those that no session of this user can write.
  std::vector<std::string> link_directories;
};

inline const std::string& IndexedPath(const Hole& hole) { return hole.path; }
inline const std::string& IndexedPath(const Grant& grant) { return grant.path(); }

class RuleSet {
 public:
  // Room for the rules of usual settings: both are large, and moving them as a vector grows costs.
  RuleSet() : index_(holes_) {
    requests_.reserve(128);
    holes_.reserve(128);
    index_.Reserve(128);
  }

  void AddGrant(GrantRequest&& request) { requests_.push_back(std::move(request)); }
  // A second hole at the same place makes the first one as strict as both.
  void AddHole(Hole hole);

  // Those added so far.
  const std::vector<Hole>& holes() const { return holes_; }
  const std::vector<GrantRequest>& requests() const { return requests_; }

  // Before Settle; see planted_links.h.
  std::vector<GrantRequest> TakePlanted(const std::vector<std::string>& once_writable);

  // Settles grants against holes, drops what is covered, and marks the holes that cut something.
  // Grants that lie in a hole they may not open go to `skipped`.
  void Settle(std::vector<Grant>& grants, std::vector<Hole>& holes, std::vector<SkippedPath>& skipped);

 private:
  bool MayOpen(const GrantRequest& request, const Hole& hole) const;
  // False if nothing is left of the grant.
  bool SettleOne(GrantRequest& request, std::vector<SkippedPath>& skipped);

  std::vector<GrantRequest> requests_;
  std::vector<Hole> holes_;
  PathIndex<Hole> index_;  // of holes_
  // Per hole: a grant of the very path took its place.
  std::vector<bool> opened_;
};

// Sorts by path and drops every grant that another one covers, unless a hole lies between them.
void ReduceToCover(const std::vector<Hole>& holes, std::vector<Grant>& grants);

}  // namespace spty
