// From the rights of a policy to Landlock's, for every ABI. No kernel call.
#pragma once

#include <cstdint>

#include "policy/path_pin.h"
#include "policy/rights.h"

namespace spty {

struct LandlockRights {
  explicit LandlockRights(int abi);

  // Every file system right that this ABI knows. All of them are handled: what no rule grants is refused.
  // That goes for connecting to pathname sockets, too: where the keeper does that for the session there is no
  // rule for it, and what gets past the keeper meets a second refusal.
  uint64_t handled_fs;
  // Every network right; handled if the session has no network.
  uint64_t network;
  uint64_t scopes;

  // What a grant allows at and below a directory, or on a single file.
  uint64_t For(Rights rights, FileType type) const;
  // A terminal: reading, writing and its ioctls.
  uint64_t ForTerminal(FileType type) const;
  // A device that is only read and written.
  uint64_t ForDevice() const;
};

}  // namespace spty
