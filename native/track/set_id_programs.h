// macOS: the programs that run with the rights of their owner or group. The kernel does not execute them
// under a Seatbelt profile, whatever that says; see TrackingProfile.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace spty {

// The regular files in these directories (not below) whose mode says so, sorted. A directory that cannot be
// read has none.
std::vector<std::string> SetIdPrograms(std::span<const char* const> directories);

}  // namespace spty
