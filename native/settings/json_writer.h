// Writes JSON text. Strings that are not UTF-8 (file names) get U+FFFD for what cannot be shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spty {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);
  JsonWriter& String(std::string_view value);
  JsonWriter& Bool(bool value);
  JsonWriter& Integer(uint64_t value);
  JsonWriter& Number(double value);
  JsonWriter& Null();

  std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  // A comma, if something stands before.
  void Separate();
  void Quote(std::string_view value);

  std::string text_;
};

}  // namespace spty
