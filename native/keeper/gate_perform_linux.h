// One request of the session, from reading it to answering it.
#pragma once

#include "keeper/gate.h"
#include "uapi/seccomp_notify.h"

namespace spty {

// Performs what the caller asked for, if it may, and answers. The calling thread has the session's identity
// and `place` among the requests under way.
void PerformRequest(int listener, const uapi::SeccompNotif& request, const GateRules& rules, int place);

// Tells the caller `err`, 0 for success. False if it no longer waits.
bool AnswerRequest(int listener, uint64_t id, int err);

}  // namespace spty
