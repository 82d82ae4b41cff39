// Whose processes a session runs as.
#pragma once

#include "base/result.h"
#include "keeper/plan.h"
#include "session/request.h"

namespace spty {

// The full identity for these numbers: the user's own supplementary groups replace the host's (node-pty keeps
// the host's, so that a session of another user stays in root's groups). Only a host that stays who it is,
// and is not root, keeps its groups. May ask the user database, so it may block; host thread, before any
// process exists.
Result<Identity> ResolveIdentity(const SpawnRequest::Ids& ids);

}  // namespace spty
