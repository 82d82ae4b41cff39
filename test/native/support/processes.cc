#include "support/processes.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "track/cgroup.h"

namespace spty {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

std::vector<std::string> OwnCgroups() {
  std::vector<std::string> names;
  const auto place = CgroupPlace::Own();
  if (!place.ok()) return names;
  // All of ours begin alike; the rest of a name is a number.
  const std::string any = CgroupLeaf::NewName();
  const std::string prefix = any.substr(0, any.rfind('-') + 1);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(place.value()->path(), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

bool IsRunning(pid_t pid) {
  char state = StateOf(pid);
  return state != '\0' && state != 'Z' && state != 'X';
}

bool Eventually(const std::function<bool()>& condition) {
  auto limit = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

Footprint Footprint::Now() {
  Footprint now;
  now.cgroups = OwnCgroups();  // first: the place of cgroups is opened once, and stays open
  now.descriptors = OwnDescriptors();
  now.threads = OwnThreads();
  now.children = ChildrenOf(getpid());
  return now;
}

Footprint Footprint::AtRest() {
  Footprint now;
  (void)Eventually([&] {
    now = Now();
    return now.cgroups.empty() && std::ranges::none_of(now.children, IsRunning);
  });
  return now;
}

Footprint Footprint::Settled(const Footprint& expected) {
  Footprint now;
  (void)Eventually([&] { return (now = Now()) == expected; });
  return now;
}

std::string ToString(const Footprint& footprint) {
  std::ostringstream out;
  for (const auto& [fd, target] : footprint.descriptors) out << fd << "=" << target << " ";
  out << "threads=" << footprint.threads << " children=";
  for (pid_t child : footprint.children) out << child << "(" << StateOf(child) << ") ";
  out << "cgroups=";
  for (const std::string& name : footprint.cgroups) out << name << " ";
  return out.str();
}

void PrintTo(const Footprint& footprint, std::ostream* out) { *out << ToString(footprint); }

}  // namespace spty
