#include "keeper/gate_identity_linux.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/process_files.h"

namespace spty {
namespace {

int DropCapabilities() {
  uapi::CapabilityHeader header{uapi::kCapabilityVersion3, 0};
  uapi::CapabilityData none[2] = {};
  // Ambient ones go with the permitted ones.
  if (syscall(SYS_capset, &header, none) == -1) return errno;
  uapi::CapabilityData left[2] = {};
  if (syscall(SYS_capget, &header, left) == -1) return errno;
  bool any = (left[0].permitted | left[1].permitted | left[0].effective | left[1].effective) != 0;
  return any ? EPERM : 0;
}

int SetIds(uint32_t uid, uint32_t gid) {
  if (syscall(SYS_setresgid, gid, gid, gid) == -1) return errno;
  if (syscall(SYS_setresuid, uid, uid, uid) == -1) return errno;
  uint32_t is[6] = {};
  if (syscall(SYS_getresuid, &is[0], &is[1], &is[2]) == -1) return errno;
  if (syscall(SYS_getresgid, &is[3], &is[4], &is[5]) == -1) return errno;
  for (int i = 0; i < 6; ++i) {
    if (is[i] != (i < 3 ? uid : gid)) return EPERM;
  }
  return 0;
}

}  // namespace

// Raw calls throughout: a C library's own would change every thread of the process, the keeper's main one
// too. It needs its rights to kill and to clean up.
int TakeOnIdentity(const GateRules& rules) {
  if (rules.set_groups && syscall(SYS_setgroups, rules.group_count, rules.groups) == -1) return errno;
  if (rules.set_ids) {
    if (int err = SetIds(rules.uid, rules.gid); err != 0) return err;
  }
  return rules.drop_capabilities ? DropCapabilities() : 0;
}

}  // namespace spty
