// macOS has no control groups: no place for one is ever found, so the rest is never reached.
#include <cerrno>

#include "track/cgroup.h"

namespace spty {
namespace {

Error NoCgroups() { return Error{Stage::kCgroup, ENOTSUP, "macOS has no control groups"}; }

}  // namespace

Result<std::shared_ptr<const CgroupPlace>> CgroupPlace::Find(const std::string&, const std::string&,
                                                             const CgroupLimits&) {
  return NoCgroups();
}
Result<std::shared_ptr<const CgroupPlace>> CgroupPlace::Own(const CgroupLimits&) { return NoCgroups(); }
bool CgroupPlace::Exists() const { return false; }
std::vector<std::string> CgroupPlace::Orphans() const { return {}; }
size_t CgroupPlace::Sweep() const { return 0; }

std::string CgroupLeaf::NewName() { return ""; }
LimitHits CgroupLeaf::Hits() const { return {}; }
Result<CgroupLeaf> CgroupLeaf::Create(std::shared_ptr<const CgroupPlace>, const CgroupLimits&, std::string,
                                      bool) {
  return NoCgroups();
}
CgroupLeaf::~CgroupLeaf() = default;
Result<void> CgroupLeaf::Kill() const { return NoCgroups(); }
Result<bool> CgroupLeaf::Empty() const { return NoCgroups(); }
std::vector<pid_t> CgroupLeaf::Members() const { return {}; }
Result<void> CgroupLeaf::TryRemove() { return Remove(); }
Result<void> CgroupLeaf::Remove() {
  made_ = false;
  return NoCgroups();
}

}  // namespace spty
