// The gate's threads act as the session: neither more nor fewer rights than the caller.
#pragma once

#include "keeper/gate.h"

namespace spty {

// Takes on the session's identity for the calling thread and those it starts, and for no other. 0 or an
// errno, after which the thread must not act for the session.
int TakeOnIdentity(const GateRules& rules);

}  // namespace spty
