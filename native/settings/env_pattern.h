// The name of an environment variable that may pass, or the start of its name: "PATH", "LC_*".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spty {

class EnvPattern {
 public:
  // None if it is empty, has a '=' or a NUL, or a '*' anywhere but at the end.
  static std::optional<EnvPattern> Parse(std::string_view text);

  bool Matches(std::string_view name) const;
  // Whether everything that `other` matches is matched by this one too.
  bool Covers(const EnvPattern& other) const;
  std::string ToString() const { return prefix_ ? name_ + "*" : name_; }

  bool operator==(const EnvPattern&) const = default;

 private:
  std::string name_;  // without the '*'
  bool prefix_ = false;
};

}  // namespace spty
