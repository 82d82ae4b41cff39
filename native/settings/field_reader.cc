#include "settings/field_reader.h"

#include <cmath>

#include "settings/text.h"

namespace spty {
namespace {

std::string Number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return std::to_string(static_cast<int64_t>(value));
  return std::to_string(value);
}

std::string Joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += "\"" + std::string(words[i]) + "\"";
  }
  return text;
}

}  // namespace

void FieldReader::Fail(const std::string& pointer, std::string message, std::string suggestion) {
  SettingsError error;
  error.at = {layer_, pointer};
  error.message = std::move(message);
  error.suggestion = std::move(suggestion);
  errors_.push_back(std::move(error));
}

bool FieldReader::Expect(JsonValue::Kind kind, const JsonValue& value, const std::string& pointer,
                         std::string_view wanted) {
  if (value.kind == kind) return true;
  Fail(pointer, "This must be " + std::string(wanted) + ", not " + std::string(value.KindName()) + ".");
  return false;
}

bool FieldReader::ExpectObject(const JsonValue& value, const std::string& pointer) {
  return value.is_null() || Expect(JsonValue::Kind::kObject, value, pointer, "an object");
}

void FieldReader::UnknownKey(std::string_view key, const std::string& pointer,
                             std::span<const std::string_view> known) {
  const std::string_view nearest = NearestWord(key, known);
  Fail(AppendPointer(pointer, key), "There is no setting " + Quoted(key) + " here.",
       nearest.empty() ? "Remove it." : "Did you mean " + Quoted(nearest) + "?");
}

void FieldReader::WrongWord(const JsonValue& value, const std::string& pointer,
                            const std::vector<std::string_view>& words) {
  if (value.kind != JsonValue::Kind::kString) {
    Fail(pointer, "This must be " + Joined(words) + ", not " + std::string(value.KindName()) + ".");
    return;
  }
  const std::string_view nearest = NearestWord(value.string, words);
  Fail(pointer, Quoted(value.string) + " is none of " + Joined(words) + ".",
       nearest.empty() ? "" : "Did you mean " + Quoted(nearest) + "?");
}

void FieldReader::Read(const JsonValue& value, const std::string& pointer, Field<bool>& field) {
  if (value.is_null()) return;
  if (!Expect(JsonValue::Kind::kBool, value, pointer, "true or false")) return;
  field = Sourced<bool>{value.boolean, {layer_, pointer}};
}

bool FieldReader::CheckRange(double value, const std::string& pointer, double minimum, double maximum) {
  if (value >= minimum && value <= maximum) return true;
  Fail(pointer, Number(value) + " is out of range.",
       "Use a number from " + Number(minimum) + " to " + Number(maximum) + ", or leave it out for no limit.");
  return false;
}

void FieldReader::ReadInteger(const JsonValue& value, const std::string& pointer, uint64_t minimum,
                              uint64_t maximum, Field<uint64_t>& field) {
  if (value.is_null()) return;
  if (!Expect(JsonValue::Kind::kNumber, value, pointer, "a whole number")) return;
  if (value.number != std::floor(value.number)) return Fail(pointer, "This must be a whole number.");
  if (!CheckRange(value.number, pointer, static_cast<double>(minimum), static_cast<double>(maximum))) return;
  field = Sourced<uint64_t>{static_cast<uint64_t>(value.number), {layer_, pointer}};
}

void FieldReader::ReadNumber(const JsonValue& value, const std::string& pointer, double minimum,
                             double maximum, Field<double>& field) {
  if (value.is_null()) return;
  if (!Expect(JsonValue::Kind::kNumber, value, pointer, "a number")) return;
  if (!CheckRange(value.number, pointer, minimum, maximum)) return;
  field = Sourced<double>{value.number, {layer_, pointer}};
}

template <typename Add>
void FieldReader::EachString(const JsonValue& value, const std::string& pointer, std::string_view wanted,
                             Add add) {
  if (!Expect(JsonValue::Kind::kArray, value, pointer, wanted)) return;
  if (value.items.size() > kMaxListItems) {
    return Fail(pointer, "The list has " + std::to_string(value.items.size()) + " entries; at most " +
                             std::to_string(kMaxListItems) + " are read.");
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    const std::string at = AppendPointer(pointer, i);
    if (Expect(JsonValue::Kind::kString, value.items[i], at, "a string")) add(value.items[i].string, at);
  }
}

void FieldReader::Read(const JsonValue& value, const std::string& pointer, std::optional<PathList>& field) {
  if (value.is_null()) return;
  PathList list{{}, {layer_, pointer}};
  EachString(value, pointer, "an array of paths", [&](const std::string& path, const std::string& at) {
    if (path.empty()) return Fail(at, "A path must not be empty.", "Write \".\" for the project itself.");
    if (path.find('\0') != std::string::npos) return Fail(at, "A path must not contain a NUL character.");
    if (CountCodePoints(path) > kMaxPathLength) return Fail(at, "A path of this length cannot exist.");
    if (path[0] == '~' && path.size() > 1 && path[1] != '/') {
      return Fail(at, Quoted(path) + " starts with the home of another user, which is not looked up.",
                  "Write the full path; a file with that name in the project is \"./" + path + "\".");
    }
    list.items.push_back({path, {layer_, at}});
  });
  field = std::move(list);
}

void FieldReader::ReadAbsolutePaths(const JsonValue& value, const std::string& pointer,
                                    std::optional<PathList>& field) {
  Read(value, pointer, field);
  if (value.kind != JsonValue::Kind::kArray || !field) return;
  for (const Sourced<std::string>& item : field->items) {
    if (item.value[0] == '/' || item.value[0] == '~' || item.value[0] == '$') continue;
    Fail(item.origin.pointer, Quoted(item.value) + " is relative; an approval must say where it holds.",
         "Write the full path, or one that starts with ~/ or a variable.");
  }
}

void FieldReader::Read(const JsonValue& value, const std::string& pointer, std::optional<HostList>& field) {
  if (value.is_null()) return;
  HostList list{{}, {layer_, pointer}};
  EachString(value, pointer, "an array of hosts", [&](const std::string& text, const std::string& at) {
    ParsedHost parsed = HostPattern::Parse(text);
    if (!parsed.pattern) return Fail(at, parsed.message, parsed.suggestion);
    list.items.push_back({std::move(*parsed.pattern), {layer_, at}});
  });
  field = std::move(list);
}

void FieldReader::Read(const JsonValue& value, const std::string& pointer, std::optional<EnvList>& field) {
  if (value.is_null()) return;
  EnvList list{{}, {layer_, pointer}};
  EachString(value, pointer, "an array of names", [&](const std::string& text, const std::string& at) {
    std::optional<EnvPattern> pattern = EnvPattern::Parse(text);
    if (!pattern) {
      return Fail(at, Quoted(text) + " is not the name of an environment variable.",
                  "Write the name only; one * at its end stands for any continuation.");
    }
    list.items.push_back({std::move(*pattern), {layer_, at}});
  });
  field = std::move(list);
}

}  // namespace spty
