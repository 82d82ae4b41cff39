// The entry points about settings and policies.
#pragma once

#include <napi.h>

#include <memory>

#include "policy/policy.h"

namespace spty {

// parse, resolveSettings, describeSettings, resolvePolicy, releasePolicy, describePolicy, explain. They take
// and return strings of JSON and opaque handles; lib/settings.ts and lib/policy.ts give them their types.
void RegisterSettings(Napi::Env env, Napi::Object exports);

// The policy behind a handle that resolvePolicy returned; null if `value` is anything else.
std::shared_ptr<const Policy> UnwrapPolicy(Napi::Value value);

}  // namespace spty
