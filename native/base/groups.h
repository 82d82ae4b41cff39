// Lists of groups, whose C types differ between systems. Also part of the keeper: no C++ library here.
#pragma once

#include <grp.h>
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

namespace spty {

#ifdef __APPLE__
using ListedGroup = int;  // what getgrouplist(3) writes
// The kernel keeps no more, and asks the directory service about the rest.
inline int SetGroups(uint32_t count, const uint32_t* groups) {
  return setgroups(static_cast<int>(count < NGROUPS_MAX ? count : NGROUPS_MAX), groups);
}
#else
using ListedGroup = gid_t;
inline int SetGroups(uint32_t count, const uint32_t* groups) { return setgroups(count, groups); }
#endif

}  // namespace spty
