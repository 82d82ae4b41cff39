// Removing what predecessors have left.
#pragma once

#include <napi.h>

namespace spty {

// removeOwnTree(path, callback(errno)): a directory of this user's with all that is in it, on another thread;
// the callback gets a number as text, "0" if it is gone. Throws where there is no thread to be had.
void RemoveOwnTreeInBackground(const Napi::CallbackInfo& info);

}  // namespace spty
