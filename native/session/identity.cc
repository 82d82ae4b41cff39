#include "session/identity.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/groups.h"

namespace spty {
namespace {

// The login name, or "" for a number without an account.
Result<std::string> LoginName(uid_t uid) {
  std::vector<char> buffer(1024);
  for (;;) {
    passwd entry{};
    passwd* found = nullptr;
    int err = getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
    if (err == ERANGE && buffer.size() < (size_t{1} << 20)) {
      buffer.resize(buffer.size() * 2);
      continue;
    }
    if (err != 0 && err != ENOENT) return Error{Stage::kIdentity, err, "user " + std::to_string(uid)};
    return found == nullptr ? std::string() : std::string(found->pw_name);
  }
}

std::vector<uint32_t> GroupsOf(const std::string& name, gid_t gid) {
  int count = 32;
  for (;;) {
    std::vector<ListedGroup> groups(static_cast<size_t>(count));
    if (getgrouplist(name.c_str(), static_cast<ListedGroup>(gid), groups.data(), &count) >= 0) {
      return {groups.begin(), groups.begin() + count};
    }
    if (count <= static_cast<int>(groups.size())) count = static_cast<int>(groups.size()) * 2;
  }
}

}  // namespace

Result<Identity> ResolveIdentity(const SpawnRequest::Ids& ids) {
  Identity identity;
  identity.uid = ids.uid;
  identity.gid = ids.gid;
  // Root is not the only one who may become somebody else: capabilities are enough. Whoever does must give up
  // its own groups as well, or fail. As ourselves, without privilege, there is nothing to give up.
  identity.set_groups = geteuid() == 0 || ids.uid != geteuid() || ids.gid != getegid();
  if (!identity.set_groups) return identity;
  TRY_ASSIGN(std::string name, LoginName(ids.uid));
  identity.groups = name.empty() ? std::vector<uint32_t>{ids.gid} : GroupsOf(name, ids.gid);
  return identity;
}

}  // namespace spty
