// JavaScript object -> SpawnRequest. lib/ has checked the values; here only their types, so that a wrong call
// is a TypeError and never a crash.
#pragma once

#include <napi.h>

#include <optional>

#include "session/request.h"

namespace spty {

// Empty with a TypeError pending if a field is missing or of the wrong type.
std::optional<SpawnRequest> ReadSpawnRequest(const Napi::Value& value);
std::optional<WindowSize> ReadWindowSize(const Napi::Object& object);

}  // namespace spty
