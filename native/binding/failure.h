// Errors on their way to JavaScript.
#pragma once

#include <napi.h>

#include "base/result.h"

namespace spty {

// An Error with {code: 'ENOENT', errno: -2, stage: 'exec', path}, as Node's own system errors have it. lib/
// turns it into a SandboxError and adds what to do about it.
Napi::Error ToJs(Napi::Env env, const Error& error);

}  // namespace spty
