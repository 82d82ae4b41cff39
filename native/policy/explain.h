// "May this session do that, and which setting says so?"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/policy.h"

namespace spty {

// The smallest change of the settings that would allow it.
struct Suggestion {
  // Where to write in the sandbox settings; "/-" at the end means: append to the list. Empty: no change of
  // settings helps, and `text` says what does.
  std::string pointer;
  // What to write there.
  std::string value;
  // One sentence.
  std::string text;
  // Set if it should not be granted lightly, and why.
  std::string caution;
};

struct Explanation {
  Access access = Access::kRead;
  std::string target;    // as asked
  std::string resolved;  // the canonical path, or the host in its normal form
  bool allowed = false;
  // The setting that decided; with Layer::kDefault the built-in value of the setting `pointer`.
  Origin by;
  std::string reason;
  std::optional<Suggestion> suggestion;  // if it is not allowed
};

// For kConnect the target is a host, "host:port" (without a port: 443), or the path of a UNIX socket; else a
// path. Paths may be spelled as in the settings.
Explanation Explain(const Policy& policy, Access access, std::string_view target);

// For people: a few lines.
std::string ExplanationToText(const Explanation& explanation);
// For programs.
std::string ExplanationToJson(const Explanation& explanation);

}  // namespace spty
