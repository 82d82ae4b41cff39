// A prepared keeper in JavaScript's hands, between the beginning of createSandboxedPty() and its session.
#pragma once

#include <napi.h>

#include <optional>

#include "session/prepared_keeper.h"

namespace spty {

// startKeeper(path, tempPrefix) -> {handle, tempDir}; throws a failure. See PrepareKeeper.
Napi::Value StartKeeper(const Napi::CallbackInfo& info);
// releaseKeeper(handle): ends it, unless a session has taken it. What it made is gone when this returns.
void ReleaseKeeper(const Napi::CallbackInfo& info);
// Nothing if `value` is no handle, or an empty one.
std::optional<PreparedKeeper> TakeKeeper(const Napi::Value& value);

}  // namespace spty
