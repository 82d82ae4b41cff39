// What ends a session, for people and programs.
#pragma once

#include <string>

namespace spty {

class Session;

// JSON: {mechanisms: [...], noCgroup, unmarked}. Of what the keeper has proven so far.
std::string TrackingToJson(const Session& session);

}  // namespace spty
