// What is wrong with a settings document, or with a policy made from it, in words for the person who wrote
// it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "settings/origin.h"

namespace spty {

// The document itself is wrong.
inline constexpr char kErrSettings[] = "ERR_SETTINGS";
// The document is fine, but this project or machine does not fit it.
inline constexpr char kErrPolicy[] = "ERR_POLICY";

struct SettingsError {
  std::string code = kErrSettings;
  Origin at;
  // What happened, and to which setting.
  std::string message;
  // What to do about it; may be empty.
  std::string suggestion;
  // The file concerned, for display, and errno: only for kErrPolicy.
  std::string path;
  int err = 0;
};

// One line: "user:/sandbox/strict: must be true or false, not a string. Write true without quotes."
std::string Describe(const SettingsError& error);

// A value, or at least one error.
template <typename T>
class [[nodiscard]] SettingsResult {
 public:
  SettingsResult(T value) : value_(std::move(value)) {}                              // NOLINT: implicit
  SettingsResult(SettingsError error) { errors_.push_back(std::move(error)); }       // NOLINT
  SettingsResult(std::vector<SettingsError> errors) : errors_(std::move(errors)) {}  // NOLINT
  bool ok() const { return value_.has_value(); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  const SettingsError& error() const { return errors_.front(); }
  const std::vector<SettingsError>& errors() const { return errors_; }

 private:
  std::optional<T> value_;
  std::vector<SettingsError> errors_;
};

}  // namespace spty
