#include "settings/env_pattern.h"

namespace spty {

std::optional<EnvPattern> EnvPattern::Parse(std::string_view text) {
  if (text.empty()) return std::nullopt;
  EnvPattern pattern;
  if (text.ends_with('*')) {
    pattern.prefix_ = true;
    text.remove_suffix(1);
  }
  static constexpr std::string_view kForbidden("=*\0", 3);
  if (text.find_first_of(kForbidden) != std::string_view::npos) return std::nullopt;
  pattern.name_ = text;
  return pattern;
}

bool EnvPattern::Matches(std::string_view name) const {
  return prefix_ ? name.starts_with(name_) : name == name_;
}

bool EnvPattern::Covers(const EnvPattern& other) const {
  if (!prefix_) return !other.prefix_ && name_ == other.name_;
  return other.name_.starts_with(name_);
}

}  // namespace spty
