#include "session/late_failure.h"

#include <cstring>

namespace spty {
namespace {

const char* FailedCall(Stage stage) {
  switch (stage) {
    case Stage::kExec:
      return "execvp(3)";
    case Stage::kCwd:
      return "chdir(2)";
    case Stage::kGroups:
      return "setgroups(2)";
    case Stage::kGid:
      return "setgid(2)";
    case Stage::kUid:
      return "setuid(2)";
    default:
      return StageName(stage);
  }
}

}  // namespace

std::string LateFailureText(Stage stage, int err) {
  return std::string(FailedCall(stage)) + " failed.: " + strerror(err) + "\r\n";
}

}  // namespace spty
