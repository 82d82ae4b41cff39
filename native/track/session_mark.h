// macOS: the name by which every process of a session can be told from all others. A Seatbelt profile that
// allows reading "allow" in this directory and denies "deny" belongs to this session and to no other. The
// keeper makes the directory, with "allow" in it, and removes it; "deny" is never made.
#pragma once

#include <string>

#include "base/result.h"

namespace spty {

// "<place>/.sandboxed-pty-<uuid>", a name that was never used. {mark, err, "getentropy"}
Result<std::string> NewSessionMark(const std::string& place = "/tmp");

}  // namespace spty
