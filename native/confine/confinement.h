// Everything that the kernel is asked for on behalf of one session, complete before any process exists.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "confine/enforcement.h"
#include "keeper/plan.h"

namespace spty {

struct Confinement {
  Fd inner;                      // the shell's Landlock ruleset; invalid: none
  Fd outer;                      // the keeper's
  std::vector<uint64_t> filter;  // struct sock_filter as bytes; empty: none
  bool gate = false;
  bool gate_inet = false;
  std::vector<std::string> gate_directories;
  std::vector<std::string> gate_sockets;
  std::vector<std::string> gate_closed;
};

// Called for what the shell's ruleset still lacks: the keeper adds it.
using CompleteRuleset = std::function<Result<void>(const RulesAround& around)>;

// `slave` is the session's own terminal. `enforcement` must be for this policy, and applied.
Result<Confinement> PrepareConfinement(const Policy& policy, const Enforcement& enforcement, const Fd& slave,
                                       pid_t keeper, const CompleteRuleset& complete);

}  // namespace spty
