#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "confine/landlock_ruleset.h"

namespace spty {
namespace {

// A kernel refuses a structure that is longer than its own unless the rest is zero; older ones accept the
// fields they know.
size_t SizeOf(const landlock::RulesetAttr& attr) {
  if (attr.scoped != 0) return sizeof attr;
  if (attr.handled_net != 0) return offsetof(landlock::RulesetAttr, scoped);
  return offsetof(landlock::RulesetAttr, handled_net);
}

}  // namespace

Result<LandlockRuleset> LandlockRuleset::Create(const landlock::RulesetAttr& attr) {
  const long fd = syscall(landlock::kCreateRuleset, &attr, SizeOf(attr), 0U);
  if (fd == -1) return Error{Stage::kConfinement, errno, "landlock_create_ruleset"};
  Fd owned = AboveStdio(Fd(static_cast<int>(fd)));
  if (!owned.valid()) return Error{Stage::kConfinement, errno, "landlock_create_ruleset"};
  return LandlockRuleset(std::move(owned));
}

Result<void> LandlockRuleset::Allow(int fd, uint64_t rights) {
  if (rights == 0) return {};
  landlock::PathBeneathAttr rule;
  rule.allowed = rights;
  rule.parent_fd = fd;
  if (syscall(landlock::kAddRule, fd_.get(), landlock::kPathBeneath, &rule, 0U) == 0) return {};
  return Error{Stage::kConfinement, errno, "landlock_add_rule"};
}

}  // namespace spty
