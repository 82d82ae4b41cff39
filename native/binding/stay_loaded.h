#pragma once

#include "base/result.h"

namespace spty {

// Keeps this library mapped until the process ends. Node closes an addon when the last environment that uses
// it is gone, which may be a worker's, while threads of ours are still on their way out.
Result<void> StayLoaded();

}  // namespace spty
