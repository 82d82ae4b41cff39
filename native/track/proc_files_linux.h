// The files of /proc that tell about a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "track/process_ref.h"

namespace spty {

// "/proc/<pid>" and more, without the heap: a list of processes takes thousands of these.
class ProcPath {
 public:
  ProcPath(const char* format, pid_t pid) { snprintf(text_, sizeof text_, format, pid, pid); }
  const char* c_str() const { return text_; }

 private:
  char text_[64];
};

// A whole file of /proc from its beginning, up to a limit; empty if it cannot be read.
std::string ReadWhole(int fd, size_t limit);
std::string ReadWhole(const char* path, size_t limit);

inline constexpr char kStatFile[] = "/proc/%d/stat";
inline constexpr size_t kLongestStat = 4096;
std::optional<ProcessInfo> ParseStat(pid_t pid, const std::string& text);

// Of its first thread, which is named like the process.
inline constexpr char kChildrenFile[] = "/proc/%d/task/%d/children";
inline constexpr size_t kLongestChildren = 1 << 20;
void ParseChildren(std::string_view text, std::vector<pid_t>* children);
// Its direct children, all threads' together.
void TakeChildrenOfThreads(pid_t pid, std::vector<pid_t>* children);

}  // namespace spty
