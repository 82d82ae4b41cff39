// What the kernel says about this process and those that a test has started.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace spty {

// Direct children, zombies included, in order.
std::vector<pid_t> ChildrenOf(pid_t pid);
// 0 if there is no such process.
pid_t ParentOf(pid_t pid);
// Open descriptors and what they refer to, in the words of the system.
std::map<int, std::string> DescriptorsOf(pid_t pid);
std::map<int, std::string> OwnDescriptors();
// R, S, T, Z ... or 0 if there is no such process.
char StateOf(pid_t pid);
bool IsRunning(pid_t pid);  // exists and is no zombie
size_t OwnThreads();

// Waits until the process is gone or a zombie; false after twenty seconds. Not only for children.
bool WaitForDeath(pid_t pid);
// Looks again and again; false after twenty seconds. For what the kernel does not announce.
bool Eventually(const std::function<bool()>& condition);

// What a process holds; equal before and after means that nothing is left behind.
struct Footprint {
  std::map<int, std::string> descriptors;
  size_t threads = 0;
  std::vector<pid_t> children;
  std::vector<std::string> cgroups;  // made by this process for its sessions

  static Footprint Now();
  // Once nothing of earlier sessions is on its way out any more.
  static Footprint AtRest();
  // As soon as it is like that one, or after twenty seconds: what is being removed takes its time.
  static Footprint Settled(const Footprint& expected);
  bool operator==(const Footprint&) const = default;
};
std::string ToString(const Footprint& footprint);
void PrintTo(const Footprint& footprint, std::ostream* out);

}  // namespace spty
