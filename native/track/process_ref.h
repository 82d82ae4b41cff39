// A process that may have ended: its number together with when it started, so that a later one with the same
// number is not taken for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spty {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  uint64_t start_ticks = 0;  // since boot
  std::string name;
  char state = '?';
  uint64_t cpu_ticks = 0;
  uint64_t rss_bytes = 0;
  uint32_t threads = 0;
  // Where its memory has the command line; both 0 where that is not told.
  uint64_t argv_begin = 0;
  uint64_t argv_end = 0;
};

// Nothing if there is no such process (any more).
std::optional<ProcessInfo> ReadProcess(pid_t pid);
// Its command line now; may wait for the process.
std::vector<std::string> ArgumentsOf(const ProcessInfo& process);
// Since boot, in ticks; 0 if there is no such process, or it cannot be read.
uint64_t StartTimeOf(pid_t pid);

// Where a process number and a start time mean what they mean here: this boot of this machine, this pid
// namespace, this time namespace. Letters and digits; kNoPlace if that cannot be learnt now.
inline constexpr char kNoPlace[] = "nowhere";
std::string OwnerPlace();
// "<pid>-<start>-<place>": whose a cgroup or a directory is, in its name.
std::string OwnerTag();
std::string OwnerTag(pid_t pid);
// Whether the process of a tag still runs; those that cannot be read, and those of another place, count as
// running.
bool OwnerLives(const std::string& tag);

}  // namespace spty
