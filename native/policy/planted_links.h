// Links that a session may have left for the next one. A session that may write to a directory can replace
// what is in it by a symbolic link; a grant that is reached through that link would give the next session
// whatever the first one had pointed to.
#pragma once

#include <string>
#include <vector>

#include "policy/path_resolver.h"
#include "policy/rule_set.h"

namespace spty {

// The directories of a look-up's links in which a process of this user can put links at all.
std::vector<std::string> LinkDirectoriesOfTheUser(PathResolver& resolver, const PathLookup& found);

// Takes the requests out that were reached through a link in a directory which these very requests make
// writable, or which is in one of the places `once_writable`, where other sessions of the same user's
// settings could write. Those that give nothing new, since a request without such a link covers them, stay.
std::vector<GrantRequest> TakePlanted(std::vector<GrantRequest>& requests,
                                      const std::vector<std::string>& once_writable);

// The first of `directories` for which the link in it cannot be followed to a socket, or none. Stricter than
// for files: rules for sockets come from the environment, and whoever serves there acts outside the session.
// A link counts only where no session of this user can have put it, whatever its policy, or where every
// policy has a hole unless somebody opens it (~/.ssh), which a project's own holes do not show.
const std::string* FindUntrustedForSockets(const std::vector<std::string>& directories,
                                           const PolicyParts& settled, const std::string& canonical_home,
                                           const std::vector<std::string>& once_writable);

}  // namespace spty
