// What this host can enforce.
#pragma once

#include <string>

#include "base/result.h"
#include "confine/host_features.h"

namespace spty {

// Asks a keeper, once per process: a thousandth of a second, on the first confined session. Any thread. A
// failed attempt is not remembered.
Result<HostFeatures> ProbeHost(const std::string& keeper_path);

}  // namespace spty
