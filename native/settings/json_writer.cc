#include "settings/json_writer.h"

#include <cmath>
#include <cstdio>

#include "settings/text.h"

namespace spty {

void JsonWriter::Separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  return *this;
}

void JsonWriter::Quote(std::string_view value) {
  static constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  while (!value.empty()) {
    const size_t valid = FindInvalidUtf8(value).value_or(value.size());
    for (char c : value.substr(0, valid)) {
      const auto byte = static_cast<uint8_t>(c);
      if (c == '"' || c == '\\') {
        text_ += {'\\', c};
      } else if (byte < 0x20) {
        text_ += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
      } else {
        text_ += c;
      }
    }
    value.remove_prefix(valid);
    if (value.empty()) break;
    text_ += "\xEF\xBF\xBD";
    value.remove_prefix(1);
  }
  text_ += '"';
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Separate();
  Quote(name);
  text_ += ':';
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  Separate();
  Quote(value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Integer(uint64_t value) {
  Separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::Number(double value) {
  Separate();
  char buffer[32];
  if (std::isfinite(value) && std::snprintf(buffer, sizeof buffer, "%.17g", value) > 0) {
    text_ += buffer;
  } else {
    text_ += "null";
  }
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  text_ += "null";
  return *this;
}

}  // namespace spty
