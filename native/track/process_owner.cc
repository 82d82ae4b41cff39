#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "track/process_ref.h"
#include "track/take_number.h"

namespace spty {

std::string OwnerTag() { return OwnerTag(getpid()); }

std::string OwnerTag(pid_t pid) {
  return std::to_string(pid) + "-" + std::to_string(StartTimeOf(pid)) + "-" + OwnerPlace();
}

bool OwnerLives(const std::string& tag) {
  std::string_view rest = tag;
  pid_t pid = 0;
  uint64_t start = 0;
  const auto dash = [&] {
    if (rest.empty() || rest.front() != '-') return false;
    rest.remove_prefix(1);
    return true;
  };
  if (!TakeNumber(rest, &pid) || pid <= 0 || !dash()) return true;
  if (!TakeNumber(rest, &start) || start == 0 || !dash()) return true;
  // Elsewhere the number means somebody else, whom we cannot see.
  if (OwnerPlace() == kNoPlace || rest.substr(0, rest.find('-')) != OwnerPlace()) return true;
  // A start time that cannot be read is no proof of death: we may be short of descriptors, or not allowed to
  // look.
  if (const uint64_t now = StartTimeOf(pid); now != 0) return now == start;
  return kill(pid, 0) == 0 || errno != ESRCH;
}

}  // namespace spty
