#include "settings/json_parse.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "settings/jsonc.h"
#include "settings/text.h"

namespace spty {
namespace {

using Json = nlohmann::json;

// Builds the value while nlohmann's lexer reads. An event handler instead of its DOM: the DOM keeps the last
// of two equal keys without a word, and a settings file in which "strict" stands twice must not be guessed
// at.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const Origin& root) : root_(root) {}

  JsonValue TakeValue() { return std::move(value_); }
  const SettingsError& error() const { return error_; }
  // Where nlohmann stopped, one past the offending character.
  size_t stopped_at() const { return stopped_at_; }

  bool null() override { return Add({}); }
  bool boolean(bool value) override {
    return Add({.kind = JsonValue::Kind::kBool, .boolean = value, .string = {}, .items = {}, .members = {}});
  }
  bool number_integer(number_integer_t value) override { return AddNumber(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return AddNumber(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return AddNumber(value); }
  bool string(string_t& value) override {
    JsonValue node;
    node.kind = JsonValue::Kind::kString;
    node.string = std::move(value);
    return Add(std::move(node));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(JsonValue::Kind::kObject); }
  bool start_array(size_t) override { return Open(JsonValue::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    JsonValue& object = *open_.back();
    if (!keys_.back().insert(name).second) {
      return Fail(AppendPointer(Pointer(open_.size() - 1), name),
                  "The key " + Quoted(name) + " stands twice in the same object.", "Remove one of them.");
    }
    object.members.push_back({std::move(name), {}});
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    stopped_at_ = position;
    return Fail(Here(), Reason(error.what()), "");
  }

 private:
  // The part of nlohmann's message that says what was expected; the rest (ids, positions, raw bytes) is ours.
  static std::string Reason(std::string_view what) {
    const size_t dash = what.find(" - ");
    std::string reason(dash == std::string_view::npos ? what : what.substr(dash + 3));
    if (const size_t last = reason.find("; last read"); last != std::string::npos) {
      const size_t expected = reason.find("; expected");
      reason = reason.substr(0, last) + (expected == std::string::npos ? "" : reason.substr(expected));
    }
    return reason;
  }

  std::string Here() const { return Pointer(open_.size()); }

  // The path to what is being read in the first `levels` open containers.
  std::string Pointer(size_t levels) const {
    std::string pointer = root_.pointer;
    for (size_t level = 0; level < levels; ++level) {
      const JsonValue* node = open_[level];
      if (node->is_object()) {
        if (!node->members.empty()) pointer = AppendPointer(pointer, node->members.back().key);
      } else {
        pointer = AppendPointer(pointer, node->items.empty() ? 0 : node->items.size() - 1);
      }
    }
    return pointer;
  }

  bool Fail(std::string pointer, std::string message, std::string suggestion) {
    error_.at = {root_.layer, std::move(pointer)};
    error_.message = std::move(message);
    error_.suggestion = std::move(suggestion);
    return false;
  }

  bool AddNumber(double value) {
    JsonValue node;
    node.kind = JsonValue::Kind::kNumber;
    node.number = value;
    return Add(std::move(node));
  }

  JsonValue* Place(JsonValue node) {
    if (open_.empty()) {
      value_ = std::move(node);
      return &value_;
    }
    JsonValue& parent = *open_.back();
    if (parent.is_object()) {
      parent.members.back().value = std::move(node);
      return &parent.members.back().value;
    }
    parent.items.push_back(std::move(node));
    return &parent.items.back();
  }

  bool Add(JsonValue node) {
    Place(std::move(node));
    return true;
  }

  bool Open(JsonValue::Kind kind) {
    if (open_.size() >= kMaxDocumentDepth) {
      return Fail(Here(), "The document is nested more than " + std::to_string(kMaxDocumentDepth) + " deep.",
                  "No setting needs that; look for a stray bracket.");
    }
    JsonValue node;
    node.kind = kind;
    // The address is stable while it is open: its parent grows only after it has been closed.
    open_.push_back(Place(std::move(node)));
    keys_.emplace_back();
    return true;
  }

  bool Close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  Origin root_;
  JsonValue value_;
  std::vector<JsonValue*> open_;
  // The keys seen in each open object: a linear search would take minutes for a hostile document.
  std::vector<std::unordered_set<std::string>> keys_;
  SettingsError error_;
  size_t stopped_at_ = 0;
};

std::string LineAndColumn(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n');
  const std::string_view in_line = start == std::string_view::npos ? before : before.substr(start + 1);
  return "line " + std::to_string(line) + ", column " + std::to_string(CountCodePoints(in_line) + 1);
}

SettingsError DocumentError(const Origin& root, std::string message, std::string suggestion) {
  SettingsError error;
  error.at = root;
  error.message = std::move(message);
  error.suggestion = std::move(suggestion);
  return error;
}

SettingsResult<JsonValue> ParseBlanked(std::string_view original, const std::string& text,
                                       const Origin& root) {
  Builder builder(root);
  if (Json::sax_parse(text, &builder, Json::input_format_t::json, /*strict=*/true,
                      /*ignore_comments=*/false)) {
    return builder.TakeValue();
  }
  SettingsError error = builder.error();
  if (builder.stopped_at() > 0) {
    error.message = "The document is not valid JSON at " + LineAndColumn(original, builder.stopped_at() - 1) +
                    ": " + error.message + ".";
    error.suggestion = "Comments and trailing commas are fine; everything else must be JSON.";
  }
  return error;
}

}  // namespace

SettingsResult<JsonValue> ParseJson(std::string_view text, const Origin& root) {
  if (text.size() > kMaxDocumentBytes) {
    return DocumentError(root,
                         "The document has " + std::to_string(text.size()) + " bytes; at most " +
                             std::to_string(kMaxDocumentBytes) + " are read.",
                         "Hand over the settings only.");
  }
  if (const auto bad = FindInvalidUtf8(text)) {
    return DocumentError(root,
                         "The document is not UTF-8 at " + LineAndColumn(text.substr(0, *bad), *bad) + ".",
                         "Save it as UTF-8.");
  }
  // The JSON parser takes it for the end, and would not see what follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return DocumentError(root, "The document has a NUL character at " + LineAndColumn(text, nul) + ".",
                         "Remove it.");
  }
  try {
    const std::optional<std::string> blanked = BlankOutJsonc(text);
    if (!blanked)
      return DocumentError(root, "A comment that starts with /* never ends.", "Close it with */.");
    if (blanked->find_first_not_of(" \t\r\n") == std::string::npos) {
      // Reading it as {} would turn the sandbox off because a file was cut short.
      return DocumentError(root, "The document is empty.",
                           "Write {} for no settings, or leave the layer out.");
    }
    return ParseBlanked(text, *blanked, root);
  } catch (const std::exception&) {
    return DocumentError(root, "The document could not be read: out of memory.", "");
  }
}

}  // namespace spty
