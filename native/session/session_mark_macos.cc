#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "confine/seatbelt_profile.h"
#include "session/session_plan.h"
#include "track/mark_table_macos.h"
#include "track/session_mark.h"

namespace spty {

Result<void> MarkSession(const SpawnRequest& request, const Enforcement& enforcement, const Fd& slave,
                         Plan& plan) {
  TRY_ASSIGN(plan.mark, NewSessionMark());
  if (!enforcement.confined) {
    TRY_ASSIGN(plan.profile, TrackingProfile(plan.mark));
    return {};
  }
  char terminal[PATH_MAX];
  if (int err = ttyname_r(slave.get(), terminal, sizeof terminal); err != 0)
    return Error{Stage::kConfinement, err, "ttyname_r"};
  TRY_ASSIGN(plan.profile, SeatbeltProfile(*request.policy, {plan.mark, terminal, 0}));
  return {};
}

std::vector<pid_t> MarkedProcesses(const std::string& mark) {
  MarkTable table(mark.c_str());
  std::vector<pid_t> found;
  const ListedProcess* list = nullptr;
  size_t count = 0;
  if (!table.marked() || table.List(&list, &count) != 0) return found;
  for (size_t i = 0; i < count; ++i) {
    if (!list[i].zombie && table.Probe(list[i].pid) == MarkProbe::kMember) found.push_back(list[i].pid);
  }
  table.Free();
  return found;
}

size_t KillMarked(const std::string& mark) {
  size_t killed = 0;
  for (const pid_t pid : MarkedProcesses(mark)) killed += kill(pid, SIGKILL) == 0 ? 1U : 0U;
  return killed;
}

}  // namespace spty
