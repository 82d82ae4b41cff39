#include "session/spawn_attributes.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>

#include "base/spawn_flags.h"
#include "keeper/wire.h"

namespace spty {
namespace {

Result<void> Checked(int err, const char* call) {
  if (err != 0) return Error{Stage::kKeeper, err, call};
  return {};
}

}  // namespace

Result<SpawnAttributes> SpawnAttributes::ForKeeper(int control) {
  SpawnAttributes result;
  auto attributes = std::make_unique<posix_spawnattr_t>();
  TRY(Checked(posix_spawnattr_init(attributes.get()), "posix_spawnattr_init"));
  result.attributes_.reset(attributes.release());
  sigset_t all;
  sigfillset(&all);
  short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID | kSpawnNothingElse;
  TRY(Checked(posix_spawnattr_setsigdefault(result.attributes_.get(), &all),
              "posix_spawnattr_setsigdefault"));
  TRY(Checked(posix_spawnattr_setsigmask(result.attributes_.get(), &all), "posix_spawnattr_setsigmask"));
  TRY(Checked(posix_spawnattr_setflags(result.attributes_.get(), flags), "posix_spawnattr_setflags"));

  auto actions = std::make_unique<posix_spawn_file_actions_t>();
  TRY(Checked(posix_spawn_file_actions_init(actions.get()), "posix_spawn_file_actions_init"));
  result.actions_.reset(actions.release());
  posix_spawn_file_actions_t* list = result.actions_.get();
  // dup2 onto itself keeps the close-on-exec flag before glibc 2.29, and the keeper would start without.
  if (control == wire::kControlFd) {
    result.control_ = Fd(fcntl(control, F_DUPFD_CLOEXEC, wire::kControlFd + 1));
    if (!result.control_.valid()) return Error{Stage::kKeeper, errno, "F_DUPFD_CLOEXEC"};
    control = result.control_.get();
  }
  TRY(Checked(posix_spawn_file_actions_adddup2(list, control, wire::kControlFd), "adddup2"));
  TRY(Checked(posix_spawn_file_actions_addopen(list, 0, "/dev/null", O_RDWR, 0), "addopen"));
  TRY(Checked(posix_spawn_file_actions_adddup2(list, 0, 1), "adddup2"));
  TRY(Checked(posix_spawn_file_actions_adddup2(list, 0, 2), "adddup2"));
  return result;
}

}  // namespace spty
