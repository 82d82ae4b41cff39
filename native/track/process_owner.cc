#include <unistd.h>

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
  return StartTimeOf(pid) == start;
}

}  // namespace spty
