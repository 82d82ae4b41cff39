// Rules for everything in a directory but what is protected in there.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "keeper/wire.h"

namespace spty {

// A granted directory that holds something protected. Landlock can only grant, and a rule counts for all that
// is below, so each entry around the protected places gets a rule of its own. The directories on the way to
// them get none, not even to be listed: that would count in the protected places, too.
struct Around {
  int directory = -1;                // O_PATH
  const char* path = nullptr;        // its canonical name, absolute
  const uint64_t* rights = nullptr;  // wire::kAroundRights of them
  // What is protected in it: a wire::kClosed or wire::kReadOnly, then an absolute path.
  char* const* holes = nullptr;
  uint32_t hole_count = 0;
};

// What is told about once a second while it goes on. 0, or an errno that ends it.
struct Progress {
  int (*tell)(void* context);
  void* context;
};

// Adds the rules to a ruleset, as far as the entries are there now. 0 or an errno; then `failed` says where:
// of a path for which there is not enough room its end, behind "...". A directory that this process may not
// list is left out: nothing in it is granted.
int AddRulesAround(int ruleset, const Around& around, const Progress& progress, char* failed, size_t room);

}  // namespace spty
