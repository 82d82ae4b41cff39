#include "support/processes.h"

#include <time.h>
#include <unistd.h>

#include <chrono>
#include <sstream>

namespace spty {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

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
  now.descriptors = OwnDescriptors();
  now.threads = OwnThreads();
  now.children = ChildrenOf(getpid());
  return now;
}

std::string ToString(const Footprint& footprint) {
  std::ostringstream out;
  for (const auto& [fd, target] : footprint.descriptors) out << fd << "=" << target << " ";
  out << "threads=" << footprint.threads << " children=";
  for (pid_t child : footprint.children) out << child << "(" << StateOf(child) << ") ";
  return out.str();
}

void PrintTo(const Footprint& footprint, std::ostream* out) { *out << ToString(footprint); }

}  // namespace spty
