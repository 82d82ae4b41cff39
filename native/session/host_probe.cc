#include "session/host_probe.h"

#include <cerrno>
#include <mutex>
#include <optional>

#include "session/keeper_process.h"

namespace spty {

Result<HostFeatures> ProbeHost(const std::string& keeper_path) {
  static std::mutex mutex;
  static std::optional<HostFeatures> known;
  std::lock_guard lock(mutex);
  if (known) return *known;
  TRY_ASSIGN(KeeperProcess keeper, KeeperProcess::Start(keeper_path));
  TRY_ASSIGN(const wire::Features probed, keeper.Probe());
  HostFeatures features;
  features.landlock_abi = probed.landlock_abi;
  features.landlock_errata = probed.landlock_errata;
  features.landlock_err = probed.landlock_err;
  features.seccomp_err = probed.seccomp_err;
  features.notify_err = probed.notify_err;
  features.diag_err = probed.diag_err;
  features.seatbelt = probed.seatbelt != 0;
  features.seatbelt_err = probed.seatbelt_err;
  // A machine that had no process or memory to spare for the attempt has told nothing about its kernel.
  // Settings that make do with less must not make do with less because of that.
  for (int err : {features.landlock_err, features.seccomp_err, features.notify_err, features.diag_err,
                  features.seatbelt_err}) {
    if (err == EAGAIN || err == ENOMEM || err == EMFILE || err == ENFILE)
      return Error{Stage::kConfinement, err, {}};
  }
  known = features;
  return features;
}

}  // namespace spty
