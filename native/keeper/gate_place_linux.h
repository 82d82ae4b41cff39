// Where a socket is bound, and whether a rule covers that place.
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "keeper/gate.h"

namespace spty {

// Where a socket was bound: absolute, without links and dots.
struct BoundPlace {
  char path[PATH_MAX];
};

// Opens (O_PATH) what the absolute path `name` means, and says which place that is: the text of `name`
// itself, with dots taken out and symbolic links replaced, never what the kernel says about the file that was
// found, since the session can move that at any moment. Links are followed only if the session cannot have
// made or moved them: neither their directory nor one above it is its own or writable to it (or it is like
// /tmp, and what is below is somebody else's), and none is in procfs.
// So the place is as fixed as the name is, and all that a session can do is to make it lead elsewhere. The
// calling thread has the session's identity. Invalid if it cannot be opened like that.
Fd OpenBoundName(const char* name, BoundPlace* place);

// Whether `rules` cover this place.
bool IsWithin(const BoundPlace& place, const GateRules& rules);

// Whether `path` is `base` itself or, with `below`, underneath it. Both canonical.
bool IsAtOrBelow(const char* path, const char* base, bool at);

// The number of the superblock a file is in, as unix_diag says it, where that is not the file's st_dev
// (btrfs, overlayfs). False if it cannot be found out.
bool FindSuperblock(const Fd& file, uint32_t* device);

// Whether two O_PATH descriptors are the same directory of the same mount.
bool IsSameDirectory(const Fd& one, const Fd& other);

}  // namespace spty
