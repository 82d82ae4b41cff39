// From a request to everything that the keeper is told: the last step before a process exists.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "confine/confinement.h"
#include "confine/enforcement.h"
#include "keeper/plan.h"
#include "keeper/wire.h"
#include "session/keeper_process.h"
#include "session/request.h"
#include "track/cgroup.h"

namespace spty {

struct SessionPlan {
  std::string encoded;
  std::vector<std::string> candidates;
  Fd slave;
  std::vector<int> stdio;  // lent by the request
  Fd inner_domain;
  Fd outer_domain;
  std::optional<CgroupLeaf> cgroup;
  // Why there is none.
  std::string no_cgroup;
  std::string mark;  // "" if the session has none
  // Whether Spawn has to wait until the program runs, in order to know that it does.
  bool wait_for_exec = true;

  // In the order of the wire; lent.
  std::vector<int> Descriptors() const;
};

// What this host can enforce of the request's policy. {confinement, ENOTSUP, reasons} if that is not enough
// for the policy's own strictness.
Result<Enforcement> DecideEnforcement(const SpawnRequest& request);

// The keeper hears of whatever is made for the session before it is made.
Result<SessionPlan> MakeSessionPlan(const SpawnRequest& request, const Enforcement& enforcement, Fd slave,
                                    KeeperProcess& keeper);

// The platform's part: macOS gives every session a Seatbelt profile, if only to tell its processes by, and
// the mark that it speaks of. Fills in both.
Result<void> MarkSession(const SpawnRequest& request, const Enforcement& enforcement, const Fd& slave,
                         Plan& plan);

// Whoever has this mark now, and whoever of them could be sent SIGKILL. Proves nothing: see
// FingerprintTracker.
std::vector<pid_t> MarkedProcesses(const std::string& mark);
size_t KillMarked(const std::string& mark);

// What a library said, or the path that it is about.
std::string TextOf(const wire::Failed& failed);

// What a failed start may be about.
struct StartSubjects {
  StartSubjects(const SpawnRequest& request, std::vector<std::string> candidates);

  std::string file;
  std::string cwd;
  std::vector<std::string> candidates;  // only under a policy, where the place matters
};

// The keeper's {stage, errno} with the path it is about.
Error ToError(const wire::Failed& failed, const StartSubjects& subjects);

}  // namespace spty
