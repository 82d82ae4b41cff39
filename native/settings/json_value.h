// A parsed JSON document, plain and owned. Only what the settings need: members keep their order, keys are
// unique (the parser refuses duplicates), nesting is bounded (so recursion over it is safe).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spty {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  bool is_null() const { return kind == Kind::kNull; }
  bool is_object() const { return kind == Kind::kObject; }
  // Null if this is no object or has no such key.
  const JsonValue* Find(std::string_view key) const;
  // "an array", "true or false", ... for messages.
  std::string_view KindName() const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

}  // namespace spty
