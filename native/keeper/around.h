// Rules for everything in a directory but what is protected in there.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "keeper/wire.h"

namespace spty {

struct ProtectedPlace {
  const char* path;  // absolute, below the granted directory
  wire::AroundHole what;
  bool settled;  // met as what it was, or in a directory in which nothing is granted
};

// A granted directory that holds something protected. Landlock can only grant, and a rule counts for all that
// is below, so each entry around the protected places gets a rule of its own. The directories on the way to
// them get none, not even to be listed: that would count in the protected places, too.
struct Around {
  int directory = -1;          // O_PATH
  const char* path = nullptr;  // its canonical name, absolute
  uint64_t rights[wire::kAroundRights] = {};
  ProtectedPlace* holes = nullptr;  // in the order of ComparePlaces
  uint32_t hole_count = 0;
  Around* next = nullptr;
};

// What is asked every few entries, and what is told about once a second. Each answers 0, or an errno that
// ends it.
struct Progress {
  int (*look)(void* context);
  int (*tell)(void* context);
  void* context;
};

// Adds the rules of these directories to a ruleset, as far as the entries are there now. 0 or an errno; then
// `failed` says where: of a path for which there is not enough room its end, behind "...". A directory that
// this process may not list is left out: nothing in it is granted.
//
// Names are looked at one after the other, while somebody may rename what they are the names of. ESTALE: a
// protected place is not, or no longer, what it was, or what leads to one has got another name meanwhile.
// What has two names at one time, as a file with a second link or what is mounted twice, gets no rule by the
// other one.
int AddRulesAround(int ruleset, Around* first, const Progress& progress, char* failed, size_t room);

}  // namespace spty
