// The keeper's end of the control socket.
#pragma once

#include <stddef.h>

#include "base/fd.h"
#include "keeper/around_requests.h"
#include "keeper/plan_view.h"

namespace spty {

// What the host was about to make when it last spoke, and may have made. Nothing is in it yet.
struct Reserved {
  char bytes[2][wire::kMaxReservation];
  uint32_t count = 0;
  const char* temp_dir = "";
  const char* cgroup_name = "";
  Fd cgroup_place;
};

// A received plan with its memory and its descriptors. The mappings live as long as the keeper.
struct ReceivedPlan {
  bool probe = false;  // the host only wants to know what this kernel offers; nothing else is set
  PlanView view;
  Fd slave;
  Fd inner_domain;
  Fd outer_domain;
  Fd cgroup_dir;
  Fd cgroup_events;
  Fd cgroup_place;
  Fd cgroup_kill;
  Fd stdio[3];
  AroundRequests arounds;  // what the ruleset of the inner domain still lacks
};

// Waits for the plan, and until it comes notes what is reserved and which rules are to be made. 0, or
// ECONNRESET if the host went away first, or another errno (EPROTO: not a plan; E2BIG: more rules than
// anybody needs).
int ReceivePlan(int control, Reserved* reserved, ReceivedPlan* plan);

// Sends one small frame. 0 or an errno.
int SendFrame(int control, wire::Type type, const void* payload, size_t size);

// Reads one kSignal frame that is known to be waiting. Returns its number, 0 at EOF (the host is gone) or
// after anything malformed: a host that talks nonsense is treated as one that is gone.
int ReceiveSignal(int control);

}  // namespace spty
