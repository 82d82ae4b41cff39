// The layers on top of each other: defaults < user < the user's platform block < project < permissions.
#pragma once

#include <optional>
#include <string>

#include "settings/document.h"
#include "settings/settings.h"

namespace spty {

struct LayerText {
  std::string text;
  // Put in front of the pointers in errors and origins: where the caller keeps this document.
  std::string pointer;
  DocumentShape shape = DocumentShape::kAuto;
};

struct LayersInput {
  std::optional<LayerText> user;
  std::optional<LayerText> project;
  std::optional<LayerText> permissions;
  Platform platform = Platform::kLinux;
  // A project's file is written by whoever wrote the repository: unless somebody vouches for it, it can only
  // tighten.
  bool project_trusted = false;
};

SettingsResult<ResolvedSettings> ResolveSettings(const LayersInput& input);

}  // namespace spty
