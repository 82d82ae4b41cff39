// macOS: the name by which every process of a session can be told from all others. A Seatbelt profile that
// allows reading "allow" in this directory and denies "deny" belongs to this session and to no other. The
// keeper makes the directory, with "allow" in it, holds a lock on it (flock) and removes it; "deny" is never
// made.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace spty {

// "<place>/.sandboxed-pty-<owner>-<uuid>", a name that was never used; the owner is this process, by its
// OwnerTag. {mark, err, "getentropy"}
Result<std::string> NewSessionMark(const std::string& place = "/tmp");

// Ends whoever has the mark; whether it is known that nobody has it now.
using EndMarked = std::function<bool(const std::string& mark)>;

// Removes the marks in `place` that nobody will: their owner is gone, and so is the keeper, whose lock ended
// with it. Before that, `end` ends who is left of the session; where it cannot, the mark stays. Touches
// nothing of another user's, no link, and no directory that has anything else in it. How many.
size_t SweepMarks(const std::string& place, const EndMarked& end);

}  // namespace spty
