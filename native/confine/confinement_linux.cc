#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "confine/confinement.h"
#include "confine/landlock_rules.h"
#include "confine/landlock_ruleset.h"
#include "confine/seccomp_filter.h"
#include "policy/path_text.h"

namespace spty {
namespace {

bool HasReadHole(const Policy& policy, const Grant& grant) {
  return std::ranges::any_of(policy.holes(), [&](const Hole& hole) {
    return hole.denies_read && hole.path != grant.path() && IsWithin(hole.path, grant.path());
  });
}

// For kernels that decide about pathname sockets themselves. Those of the session's own domain need no rule.
// A directory with something closed in it gets none: the right would count in there, too.
Result<void> AllowSockets(const Policy& policy, LandlockRuleset& ruleset) {
  for (const Grant& grant : policy.grants()) {
    if (MayHoldSockets(grant) && !HasReadHole(policy, grant))
      TRY(ruleset.Allow(grant.pin.fd.get(), landlock::kResolveUnix));
  }
  for (const SocketRule& rule : policy.unix_sockets()) {
    if (!rule.exists) continue;
    Result<PinnedPath> found = PinPath(rule.path);
    if (!found.ok() && IsMissing(found.error())) continue;
    TRY_ASSIGN(const PinnedPath pin, std::move(found));
    // By name, as a daemon may have started again since; but not through a link, nor to something else.
    if (pin.path != rule.path || pin.type != rule.type) return Error{Stage::kConfinement, ESTALE, rule.path};
    TRY(ruleset.Allow(pin.fd.get(), landlock::kResolveUnix));
  }
  return {};
}

Result<Fd> InnerDomain(const Policy& policy, const LandlockRights& rights, const Enforcement& enforcement,
                       const Fd& slave, const CompleteRuleset& complete) {
  landlock::RulesetAttr attr;
  attr.handled_fs = rights.handled_fs;
  // Inet sockets cannot be made at all; this is for one that got in some other way.
  attr.handled_net = enforcement.inet ? 0 : rights.network;
  attr.scoped = rights.scopes;
  TRY_ASSIGN(LandlockRuleset ruleset, LandlockRuleset::Create(attr));
  TRY(ForEachLandlockRule(
      policy, rights, [&](int fd, uint64_t allowed) { return ruleset.Allow(fd, allowed); }, complete));
  if (enforcement.unix_sockets == UnixSocketMode::kKernel) TRY(AllowSockets(policy, ruleset));
  // The descriptor of our own slave end: its name could belong to somebody else's devpts.
  TRY(ruleset.Allow(slave.get(), rights.ForTerminal(FileType::kDevice)));
  return ruleset.Take();
}

// Every layer denies moving and linking between directories, even one that handles no right of files, as soon
// as another layer handles some: what only scopes has to allow it explicitly, or rename(2) is EXDEV inside.
Result<Fd> OuterDomain(const LandlockRights& rights) {
  landlock::RulesetAttr attr;
  attr.handled_fs = landlock::kRefer;
  attr.scoped = rights.scopes;
  TRY_ASSIGN(LandlockRuleset ruleset, LandlockRuleset::Create(attr));
  const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return Error{Stage::kConfinement, errno, "/"};
  TRY(ruleset.Allow(root.get(), landlock::kRefer));
  return ruleset.Take();
}

Result<std::vector<uint64_t>> Filter(const Enforcement& enforcement, pid_t keeper) {
  const std::optional<Architecture> architecture = NativeArchitecture();
  if (!architecture) return Error{Stage::kConfinement, ENOTSUP, "seccomp on this processor"};
  SeccompOptions options;
  options.inet = enforcement.inet;
  options.keeper = static_cast<uint32_t>(keeper);
  switch (enforcement.unix_sockets) {
    case UnixSocketMode::kGate:
      options.unix_sockets = UnixSockets::kGate;
      break;
    case UnixSocketMode::kKernel:
      options.unix_sockets = UnixSockets::kKernel;
      break;
    case UnixSocketMode::kRefuse:
      options.unix_sockets = UnixSockets::kRefuse;
      break;
  }
  TRY_ASSIGN(const std::vector<SockFilter> program, BuildSeccompFilter(options, *architecture));
  static_assert(sizeof(SockFilter) == sizeof(uint64_t));
  std::vector<uint64_t> words(program.size());
  std::memcpy(words.data(), program.data(), program.size() * sizeof(SockFilter));
  return words;
}

void FillGateRules(const Policy& policy, Confinement& confinement) {
  for (const Grant& grant : policy.grants()) {
    if (MayHoldSockets(grant)) confinement.gate_directories.push_back(grant.path());
  }
  for (const SocketRule& rule : policy.unix_sockets()) confinement.gate_sockets.push_back(rule.path);
  // What may not be read may not be talked to either: agents have their sockets beside their keys.
  for (const Hole& hole : policy.holes()) {
    if (hole.denies_read) confinement.gate_closed.push_back(hole.path);
  }
}

}  // namespace

Result<Confinement> PrepareConfinement(const Policy& policy, const Enforcement& enforcement, const Fd& slave,
                                       pid_t keeper, const CompleteRuleset& complete) {
  Confinement confinement;
  const LandlockRights rights(enforcement.features.landlock_abi);
  if (rights.handled_fs != 0) {
    TRY_ASSIGN(confinement.inner, InnerDomain(policy, rights, enforcement, slave, complete));
  }
  if (rights.scopes != 0) {
    TRY_ASSIGN(confinement.outer, OuterDomain(rights));
  }
  if (enforcement.features.seccomp_err == 0) {
    TRY_ASSIGN(confinement.filter, Filter(enforcement, keeper));
    confinement.gate = enforcement.unix_sockets == UnixSocketMode::kGate;
    confinement.gate_inet = confinement.gate && enforcement.inet;
  }
  if (confinement.gate) FillGateRules(policy, confinement);
  return confinement;
}

}  // namespace spty
