#include "settings/settings_error.h"

namespace spty {

std::string Describe(const SettingsError& error) {
  std::string text = Describe(error.at) + ": " + error.message;
  if (!error.suggestion.empty()) text += " " + error.suggestion;
  return text;
}

}  // namespace spty
