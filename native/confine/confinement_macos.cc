#include "confine/confinement.h"

namespace spty {

// All of it is in the profile, which every session has: see MarkSession.
Result<Confinement> PrepareConfinement(const Policy&, const Enforcement&, const Fd&, pid_t,
                                       const CompleteRuleset&) {
  return Confinement{};
}

}  // namespace spty
