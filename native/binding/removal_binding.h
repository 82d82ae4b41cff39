// Removing what sessions that failed, and predecessors, have left.
#pragma once

#include <napi.h>

namespace spty {

// removeOwnTree(path) -> errno, 0 if it is gone: a directory of this user's with all that is in it.
Napi::Value RemoveOwnTreeNow(const Napi::CallbackInfo& info);

// removeOwnTreeInBackground(path, callback(errno)): the same on another thread; the callback gets the number
// as text. Throws where there is no thread to be had.
void RemoveOwnTreeInBackground(const Napi::CallbackInfo& info);

}  // namespace spty
