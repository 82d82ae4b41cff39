// posix_spawn's attributes and file actions, owned.
#pragma once

#include <spawn.h>

#include <memory>

#include "base/fd.h"
#include "base/result.h"

namespace spty {

class SpawnAttributes {
 public:
  // For a keeper whose control socket is `control`, which stays open until the spawn: see
  // KeeperProcess::Start.
  static Result<SpawnAttributes> ForKeeper(int control);

  const posix_spawnattr_t* attributes() const { return attributes_.get(); }
  const posix_spawn_file_actions_t* actions() const { return actions_.get(); }

 private:
  struct DestroyAttributes {
    void operator()(posix_spawnattr_t* attributes) const {
      posix_spawnattr_destroy(attributes);
      delete attributes;
    }
  };
  struct DestroyActions {
    void operator()(posix_spawn_file_actions_t* actions) const {
      posix_spawn_file_actions_destroy(actions);
      delete actions;
    }
  };

  SpawnAttributes() = default;
  Fd control_;  // only if the caller's cannot be used as it is
  std::unique_ptr<posix_spawnattr_t, DestroyAttributes> attributes_;
  std::unique_ptr<posix_spawn_file_actions_t, DestroyActions> actions_;
};

}  // namespace spty
