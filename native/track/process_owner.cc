#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <string_view>

#include "track/process_ref.h"
#include "track/take_number.h"

namespace spty {
namespace {

std::string TagOf(pid_t pid, uint64_t start) {
  return std::to_string(pid) + "-" + std::to_string(start) + "-" + OwnerPlace();
}

}  // namespace

std::string OwnerTag() {
  static std::mutex mutex;
  static pid_t owner = 0;
  static std::string known;
  std::lock_guard lock(mutex);
  // A child that was forked is somebody else, and a start time that could not be read is not to be
  // remembered.
  if (const pid_t self = getpid(); owner != self || OwnerPlace() == kNoPlace) {
    const uint64_t start = StartTimeOf(self);
    known = TagOf(self, start);
    owner = start == 0 ? 0 : self;
  }
  return known;
}

std::string OwnerTag(pid_t pid) { return TagOf(pid, StartTimeOf(pid)); }

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
