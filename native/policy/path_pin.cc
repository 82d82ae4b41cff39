#include "policy/path_pin.h"

#include <cerrno>

namespace spty {

bool IsMissing(const Error& error) { return error.err == ENOENT || error.err == ENOTDIR; }

Result<PinnedPath> PinPath(const std::string& absolute_path) {
  Result<PinnedPath> exact = PinExactly(absolute_path);
  if (exact.ok() || IsMissing(exact.error())) return exact;
  return PinThroughLinks(absolute_path);
}

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
