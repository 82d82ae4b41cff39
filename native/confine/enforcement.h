// What of a policy is enforced, by what, and what is not. No kernel call: from the policy and the features of
// the host alone, so that it can be told before any process exists.
#pragma once

#include <string>
#include <vector>

#include "confine/host_features.h"
#include "policy/policy.h"

namespace spty {

struct ProtectionReport {
  Protection protection = Protection::kFiles;
  bool wanted = false;
  // "landlock", "seccomp", ...; empty: missing.
  std::string enforced_by;
  // Why it is missing, or what to know about how it is enforced.
  std::string reason;
  // Whether strict forbids to go on without it.
  bool essential = true;

  bool missing() const { return wanted && enforced_by.empty(); }
};

// Who decides about pathname sockets: the keeper, Landlock, or nobody, as there are none. The gate comes
// first: it also knows which sockets the session shares with others under one path, and moving files between
// writable directories stays possible (with RESOLVE_UNIX on some of them only, the kernel refuses that).
enum class UnixSocketMode : uint8_t { kGate, kKernel, kRefuse };

struct Enforcement {
  // Whether the kernel restricts files or system calls. `reason` says why not.
  bool confined = false;
  // Whether the policy is put in force as far as this host lets us: at the least the session loses its
  // privileges, which needs neither Landlock nor seccomp.
  bool applied = false;
  std::string reason;
  // Set if the backend of the settings is not to be had, and why. What can be enforced without it is.
  std::string backend_missing;
  HostFeatures features;
  UnixSocketMode unix_sockets = UnixSocketMode::kRefuse;
  // Whether inet sockets may exist.
  bool inet = false;
  std::vector<ProtectionReport> protections;

  // What strict forbids to go on without.
  std::vector<const ProtectionReport*> Unmet() const;
};

Enforcement PlanEnforcement(const Policy& policy, const HostFeatures& features);
// Its part for a confined policy on macOS.
Enforcement PlanSeatbelt(const Policy& policy, const HostFeatures& features);

// Why no session of this policy may start with this: what its own strictness asks for and is not there. "" if
// one may.
std::string RefusalOf(const Policy& policy, const Enforcement& enforcement);

// A JSON object for people and programs.
std::string EnforcementToJson(const Enforcement& enforcement);

}  // namespace spty
