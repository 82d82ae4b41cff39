// Reads single JSON values into typed fields and collects what is wrong. One error does not hide the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "settings/content.h"
#include "settings/json_value.h"
#include "settings/settings_error.h"

namespace spty {

inline constexpr size_t kMaxListItems = 1000;
inline constexpr size_t kMaxPathLength = 4096;

class FieldReader {
 public:
  explicit FieldReader(Layer layer) : layer_(layer) {}

  // Each leaves `field` alone if the value is null (the default holds) or wrong (an error is noted).
  void Read(const JsonValue& value, const std::string& pointer, Field<bool>& field);
  void Read(const JsonValue& value, const std::string& pointer, std::optional<PathList>& field);
  void Read(const JsonValue& value, const std::string& pointer, std::optional<HostList>& field);
  void Read(const JsonValue& value, const std::string& pointer, std::optional<EnvList>& field);
  template <typename E>
  void ReadEnum(const JsonValue& value, const std::string& pointer, Field<E>& field);
  void ReadInteger(const JsonValue& value, const std::string& pointer, uint64_t minimum, uint64_t maximum,
                   Field<uint64_t>& field);
  void ReadNumber(const JsonValue& value, const std::string& pointer, double minimum, double maximum,
                  Field<double>& field);
  // Paths that must not depend on the project they are used in.
  void ReadAbsolutePaths(const JsonValue& value, const std::string& pointer, std::optional<PathList>& field);

  // True if it is an object, or null, which stands for an empty one.
  bool ExpectObject(const JsonValue& value, const std::string& pointer);
  void UnknownKey(std::string_view key, const std::string& pointer, std::span<const std::string_view> known);
  void Fail(const std::string& pointer, std::string message, std::string suggestion = "");

  Layer layer() const { return layer_; }
  void set_layer(Layer layer) { layer_ = layer; }
  bool failed() const { return !errors_.empty(); }
  std::vector<SettingsError> TakeErrors() { return std::move(errors_); }

 private:
  bool Expect(JsonValue::Kind kind, const JsonValue& value, const std::string& pointer,
              std::string_view wanted);
  void WrongWord(const JsonValue& value, const std::string& pointer,
                 const std::vector<std::string_view>& words);
  bool CheckRange(double value, const std::string& pointer, double minimum, double maximum);
  // Calls add(item, pointer) for each string of the array.
  template <typename Add>
  void EachString(const JsonValue& value, const std::string& pointer, std::string_view wanted, Add add);

  Layer layer_;
  std::vector<SettingsError> errors_;
};

template <typename E>
void FieldReader::ReadEnum(const JsonValue& value, const std::string& pointer, Field<E>& field) {
  if (value.is_null()) return;
  std::vector<std::string_view> words;
  for (const EnumName<E>& entry : EnumNames<E>()) words.push_back(entry.name);
  std::optional<E> found;
  if (value.kind == JsonValue::Kind::kString) found = EnumFromName<E>(value.string);
  if (!found) return WrongWord(value, pointer, words);
  field = Sourced<E>{*found, {layer_, pointer}};
}

}  // namespace spty
