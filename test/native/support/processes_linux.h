// What /proc says about this process and those that a test has started.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace spty {

// Direct children, zombies included.
std::vector<pid_t> ChildrenOf(pid_t pid);
// Open descriptors and what they refer to.
std::map<int, std::string> DescriptorsOf(pid_t pid);
std::map<int, std::string> OwnDescriptors();
// R, S, T, Z ... or 0 if there is no such process.
char StateOf(pid_t pid);
bool IsRunning(pid_t pid);  // exists and is no zombie
// A line of /proc/PID/status without its name: "SigBlk" -> "0000000000000000".
std::string StatusOf(pid_t pid, const std::string& field);

// Waits until the process is gone or a zombie; false after twenty seconds. Not only for children.
bool WaitForDeath(pid_t pid);
// Looks again and again; false after twenty seconds. For what the kernel does not announce.
bool Eventually(const std::function<bool()>& condition);

// What a process holds; equal before and after means that nothing is left behind.
struct Footprint {
  std::map<int, std::string> descriptors;
  size_t threads = 0;
  std::vector<pid_t> children;

  static Footprint Now();
  bool operator==(const Footprint&) const = default;
};
std::string ToString(const Footprint& footprint);
void PrintTo(const Footprint& footprint, std::ostream* out);

}  // namespace spty
