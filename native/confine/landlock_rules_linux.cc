#include <cerrno>
#include <string>
#include <vector>

#include "base/kernel_interface.h"
#include "confine/landlock_rules.h"
#include "keeper/wire.h"
#include "policy/path_text.h"

namespace spty {
namespace {

Error RuleError(int err, const std::string& path) { return {Stage::kConfinement, err, path}; }

bool IsTerminalDevice(std::string_view path) {
  return path == "/dev/tty" || path == "/dev/ptmx" || IsWithin(path, "/dev/pts");
}

class RuleMaker {
 public:
  RuleMaker(const Policy& policy, const LandlockRights& rights, const AddRule& add,
            const AddAround& add_around)
      : policy_(policy), rights_(rights), add_(add), add_around_(add_around) {}

  Result<void> AddGrant(const Grant& grant) {
    const PinnedPath& pin = grant.pin;
    if (auto same = VerifyPin(pin); !same.ok()) return RuleError(same.error().err, pin.path);
    if (grant.kind == GrantKind::kDevice && pin.type != FileType::kDirectory) {
      return add_(pin.fd.get(),
                  IsTerminalDevice(pin.path) ? rights_.ForTerminal(pin.type) : rights_.ForDevice());
    }
    if (grant.kind == GrantKind::kDevice && IsTerminalDevice(pin.path))
      return add_(pin.fd.get(), rights_.ForTerminal(pin.type));
    const RulesAround around = Around(grant);
    if (!around.holes.empty() && pin.type == FileType::kDirectory) return add_around_(around);
    return Add(pin.fd.get(), pin.path, grant.rights, pin.type);
  }

 private:
  Result<void> Add(int fd, const std::string& path, Rights granted, FileType type) {
    if (granted == Rights::kReadWrite && IsKernelInterface(fd, path.c_str())) granted = Rights::kRead;
    return add_(fd, rights_.For(granted, type));
  }

  // Credentials and Git metadata are files, each of which has its name. Devices and kernel interfaces may be
  // mounted in any number of places, one of which is granted.
  static wire::AroundHole What(const Hole& hole) {
    wire::AroundHole what{0, 0, wire::kByName, hole.denies_read ? 0U : 1U};
    // Git metadata is protected by its name, without a look at what has it.
    const Result<PinnedPath> found = !hole.pin && hole.kind == HoleKind::kGit
                                         ? PinExactly(hole.path)
                                         : Error{Stage::kConfinement, ENOENT, hole.path};
    const PinnedPath* pin = hole.pin ? &*hole.pin : found.ok() ? &found.value() : nullptr;
    if (pin == nullptr || !IsSamePlace(*pin, hole.path)) return what;
    what.device = pin->device;
    what.inode = pin->inode;
    what.state = hole.kind == HoleKind::kDevice ? wire::kWasThere : wire::kWasOnlyThere;
    return what;
  }

  // The protected places in it that are cut out here. The others are reported instead (see enforcement.cc).
  RulesAround Around(const Grant& grant) const {
    RulesAround around;
    around.directory = grant.pin.fd.get();
    around.path = grant.path();
    for (const Hole& hole : policy_.holes()) {
      if (!IsGrantedAround(grant, hole)) continue;
      around.holes.push_back({hole.path, What(hole)});
    }
    const bool writable = grant.rights == Rights::kReadWrite;
    const auto fill = [&](wire::AroundRight kind, Rights granted) {
      around.rights[kind] = rights_.For(granted, FileType::kDirectory);
      around.rights[kind + 1] = rights_.For(granted, FileType::kFile);
    };
    fill(wire::kAsGranted, grant.rights);
    fill(wire::kForReading, Rights::kReadExecute);
    fill(wire::kOfKernel, writable ? Rights::kRead : grant.rights);
    return around;
  }

  const Policy& policy_;
  const LandlockRights& rights_;
  const AddRule& add_;
  const AddAround& add_around_;
};

}  // namespace

Result<void> ForEachLandlockRule(const Policy& policy, const LandlockRights& rights, const AddRule& add,
                                 const AddAround& add_around) {
  RuleMaker maker(policy, rights, add, add_around);
  for (const Grant& grant : policy.grants()) TRY(maker.AddGrant(grant));
  return {};
}

}  // namespace spty
