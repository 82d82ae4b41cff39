// Whether a start has to be waited for in order to know that it succeeds.
#pragma once

#include <string>
#include <vector>

#include "session/request.h"

namespace spty {

// Whether it can be told beforehand that the kernel will enter the request's directory and execute its
// program, as this user and under its policy. Only what is certain counts: a plain program of this machine's
// own kind, on a file system of its own, that the policy grants together with its loader, and of which the
// kernel says itself that it could be executed (Linux 6.14). "No" means no more than: wait and see.
//
// What is left to go wrong afterwards is told late: memory or processes that run out, a file that is
// exchanged or opened for writing in this very moment, a security module that lets us execute the program but
// not its loader. `candidates` as from ProgramCandidates; `env` and `args` for their size.
bool WillExecute(const SpawnRequest& request, const std::vector<std::string>& candidates,
                 const std::vector<std::string>& args, const std::vector<std::string>& env);

}  // namespace spty
