#include <unistd.h>

#include <string_view>

#include "track/process_ref.h"
#include "track/take_number.h"

namespace spty {

std::string OwnerTag() { return std::to_string(getpid()) + "-" + std::to_string(StartTimeOf(getpid())); }

bool OwnerLives(const std::string& tag) {
  std::string_view rest = tag;
  pid_t pid = 0;
  uint64_t start = 0;
  if (!TakeNumber(rest, &pid) || pid <= 0 || rest.empty() || rest.front() != '-') return true;
  rest.remove_prefix(1);
  if (!TakeNumber(rest, &start) || start == 0) return true;
  return StartTimeOf(pid) == start;
}

}  // namespace spty
