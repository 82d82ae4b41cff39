// The plan as the host writes it: everything the keeper and the child need, complete before any process
// exists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace spty {

struct Identity {
  uint32_t uid = 0;
  uint32_t gid = 0;
  bool set_groups = false;
  std::vector<uint32_t> groups;
};

struct Plan {
  uint64_t signal_mask = 0;
  bool set_ids = false;
  Identity identity;  // read only if set_ids
  std::string cwd;
  std::vector<std::string> candidates;  // paths to try in order, at least one
  std::vector<std::string> argv;        // at least argv[0]
  std::vector<std::string> env;         // NAME=value
};

// The bytes of a kPlan frame's payload. Fails with {plan, E2BIG} if it is larger than a keeper accepts and
// with {plan, EINVAL} for a string with a NUL byte or an empty candidate or argument list.
Result<std::string> EncodePlan(const Plan& plan);

}  // namespace spty
