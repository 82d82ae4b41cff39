// The advice behind explain.h.
#pragma once

#include <string>

#include "policy/explain.h"
#include "policy/path_resolver.h"

namespace spty {

// For a path that is denied; `hole` is what forbids it, or null if no grant reaches it.
Suggestion SuggestForPath(const Policy& policy, PathResolver& resolver, Access access,
                          const PathLookup& target, const Hole* hole);
// For what would be granted if it were there already.
Suggestion SuggestCreation(const Policy& policy, const std::string& canonical_path);
Suggestion SuggestForSocket(const Policy& policy, const std::string& canonical_path);
// `host` is in its normal form, or empty if what was asked for is no host name.
Suggestion SuggestForHost(const Policy& policy, const std::string& host, uint16_t port);

}  // namespace spty
