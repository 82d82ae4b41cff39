// Whether a start has to be waited for in order to know that it succeeds.
#pragma once

#include <string>
#include <vector>

#include "session/request.h"

namespace spty {

// Whether it can be told beforehand, without waiting for anything, that the kernel will enter the request's
// directory and execute its program, as this user and under its policy. Only what is as good as certain
// counts: a plain program of this machine's own kind that modes, access lists and mounts let this user
// execute and the policy grants, together with its loader, on a file system of this machine's own, all of it
// known to the kernel by heart (Linux 5.12). "No" means no more than: wait and see.
//
// What is left to go wrong afterwards is told late: memory or processes that run out; a program that somebody
// is writing, or exchanges in this very moment; a security module, or a domain of the host's own, that
// refuses it. `candidates` as from ProgramCandidates; `env` and `args` for their size.
bool WillExecute(const SpawnRequest& request, const std::vector<std::string>& candidates,
                 const std::vector<std::string>& args, const std::vector<std::string>& env);

}  // namespace spty
