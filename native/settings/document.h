// The shapes in which settings are handed over, and what is found in them.
#pragma once

#include <array>
#include <string_view>

#include "settings/content.h"
#include "settings/settings_error.h"

namespace spty {

enum class DocumentShape : uint8_t {
  // An editor's document if it has a "terminal" or "agent" section (also as "terminal.sandbox...", or inside
  // a
  // platform block), else the sandbox settings themselves.
  kAuto,
  // The sandbox settings themselves; every other key is an error.
  kSettings,
  // A whole settings.json: terminal.sandbox and agent.sandbox_permissions are read, the rest is none of our
  // business.
  kEditor,
};

struct LayerDocument {
  SettingsContent settings;
  PermissionsContent permissions;
  // From the "linux", "macos" and "windows" blocks, indexed by Platform. All of them are checked everywhere,
  // so that a mistake does not wait for the other machine.
  std::array<SettingsContent, 3> platform_settings;
  std::array<PermissionsContent, 3> platform_permissions;
};

// `root.layer` is the layer the document belongs to; `root.pointer` is put in front of every pointer.
// Throws nothing; all mistakes are reported at once.
SettingsResult<LayerDocument> ParseSettings(std::string_view text, const Origin& root,
                                            DocumentShape shape = DocumentShape::kAuto);

// The permissions object alone, as approvals keep it.
SettingsResult<PermissionsContent> ParsePermissions(std::string_view text, const Origin& root);

}  // namespace spty
