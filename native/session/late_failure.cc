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

// The name of a file may be anything, and a terminal would obey it: what controls one, also as two bytes of
// UTF-8 (U+0080 to U+009F), is replaced.
std::string Harmless(const std::string& text) {
  std::string harmless = text;
  for (size_t i = 0; i < harmless.size(); ++i) {
    const auto byte = static_cast<unsigned char>(harmless[i]);
    const auto next = i + 1 < harmless.size() ? static_cast<unsigned char>(harmless[i + 1]) : 0U;
    if (byte < ' ' || byte == 0x7f) harmless[i] = '?';
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) harmless.replace(i, 2, "?");
  }
  return harmless;
}

}  // namespace

std::string LateFailureText(const Error& error) {
  std::string where = Harmless(error.subject);
  if (!where.empty()) where += ": ";
  return std::string(FailedCall(error.stage)) + " failed.: " + where + strerror(error.err) + "\r\n";
}

}  // namespace spty
