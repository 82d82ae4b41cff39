#include "policy/path_pin.h"

#include <cerrno>

namespace spty {

Result<void> VerifyPin(const PinnedPath& pin) {
  const Result<PinnedPath> now = PinPath(pin.path);
  if (!now.ok()) return Error{Stage::kPolicy, ESTALE, pin.path};
  const PinnedPath& found = now.value();
  if (found.path != pin.path || found.device != pin.device || found.inode != pin.inode) {
    return Error{Stage::kPolicy, ESTALE, pin.path};
  }
  return {};
}

}  // namespace spty
