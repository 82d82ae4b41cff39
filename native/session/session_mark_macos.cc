#include <limits.h>
#include <unistd.h>

#include <cerrno>

#include "confine/seatbelt_profile.h"
#include "session/session_plan.h"

namespace spty {

Result<std::optional<SessionMark>> MarkSession(const SpawnRequest& request, const Enforcement& enforcement,
                                               const Fd& slave, Plan& plan) {
  TRY_ASSIGN(SessionMark mark, SessionMark::Create());
  plan.mark = mark.path();
  if (!enforcement.confined) {
    TRY_ASSIGN(plan.profile, TrackingProfile(mark.path()));
    return std::optional<SessionMark>(std::move(mark));
  }
  char terminal[PATH_MAX];
  if (int err = ttyname_r(slave.get(), terminal, sizeof terminal); err != 0)
    return Error{Stage::kConfinement, err, "ttyname_r"};
  TRY_ASSIGN(plan.profile, SeatbeltProfile(*request.policy, {mark.path(), terminal, 0}));
  return std::optional<SessionMark>(std::move(mark));
}

}  // namespace spty
