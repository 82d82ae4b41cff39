// Removes directories on a thread of its own: there may be very much in one, and neither the host nor the
// pump is to wait for that.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace spty {

// `remove` runs on the thread; then `done` with what it returned, 0 or an errno. An error if there is no
// thread to be had: then neither is called.
Result<void> RunRemoval(std::function<int()> remove, std::function<void(int)> done);

}  // namespace spty
