// Text to JsonValue. Everything that can be wrong with a document before anybody looks at its meaning is
// found here: size, UTF-8, syntax, nesting, duplicate keys.
#pragma once

#include <string_view>

#include "settings/json_value.h"
#include "settings/settings_error.h"

namespace spty {

inline constexpr size_t kMaxDocumentBytes = size_t{1} << 20;
inline constexpr size_t kMaxDocumentDepth = 64;

// JSON with comments and trailing commas. `root` names the document in errors: its layer, and the pointer
// under which the caller keeps it. Throws nothing.
SettingsResult<JsonValue> ParseJson(std::string_view text, const Origin& root);

}  // namespace spty
