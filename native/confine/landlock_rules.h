// From the grants and holes of a policy to Landlock rules. A rule counts for everything below its directory
// and nothing can be taken out of it again, so a grant with a hole inside becomes rules for everything around
// the hole.
#pragma once

#include <functional>

#include "base/result.h"
#include "confine/landlock_rights.h"
#include "keeper/plan.h"
#include "policy/policy.h"

namespace spty {

// Called once per rule; the descriptor is only lent.
using AddRule = std::function<Result<void>(int fd, uint64_t rights)>;

// Called for a grant with something protected in it: rules for everything around that are to be added by
// somebody who has the time to read directories.
using AddAround = std::function<Result<void>(const RulesAround& around)>;

// Checks that each grant is still what its path leads to ({confinement, ESTALE, path} if not), and hands over
// the rules.
Result<void> ForEachLandlockRule(const Policy& policy, const LandlockRights& rights, const AddRule& add,
                                 const AddAround& add_around);

}  // namespace spty
