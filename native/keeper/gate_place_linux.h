// Where a socket is bound, and whether a rule covers that place.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "keeper/gate.h"

namespace spty {

// Opens (O_PATH) what the absolute path `name` means, following only symbolic links that the session cannot
// have made: those in directories which are neither its own nor writable to it, and never procfs. Otherwise
// it could move a stranger's socket into the project and leave a link behind, so that the name under which
// that stranger had bound it would now lead there. The calling thread has the session's identity. Invalid if
// it cannot be opened like that.
Fd OpenBoundName(const char* name);

// Whether the file's path, as the kernel has it, is covered by `rules`.
bool IsWithin(const Fd& file, const GateRules& rules);

// Whether `path` is `base` itself or, with `below`, underneath it. Both canonical.
bool IsAtOrBelow(const char* path, const char* base, bool at);

// The number of the superblock a file is in, as unix_diag says it, where that is not the file's st_dev
// (btrfs, overlayfs). False if it cannot be found out.
bool FindSuperblock(const Fd& file, uint32_t* device);

// Whether two O_PATH descriptors are the same directory of the same mount.
bool IsSameDirectory(const Fd& one, const Fd& other);

}  // namespace spty
