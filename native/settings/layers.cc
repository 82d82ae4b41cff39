#include "settings/layers.h"

#include "base/result.h"
#include "settings/tighten.h"

namespace spty {
namespace {

bool Any(const PermissionsContent& p) {
  return p.network_hosts || p.allow_all_hosts || p.allow_git_access || p.write_paths ||
         p.allow_fs_write_all || p.allow_unsandboxed;
}

void CollectPermissions(const LayerDocument& document, Platform platform,
                        std::vector<PermissionsContent>& list) {
  if (Any(document.permissions)) list.push_back(document.permissions);
  const PermissionsContent& special = document.platform_permissions[static_cast<size_t>(platform)];
  if (Any(special)) list.push_back(special);
}

// A document with its block for this platform on top.
SettingsContent Flatten(const LayerDocument& document, Platform platform) {
  SettingsContent content = document.settings;
  content.Overlay(document.platform_settings[static_cast<size_t>(platform)]);
  return content;
}

SettingsResult<LayerDocument> ParseLayer(const std::optional<LayerText>& layer, Layer which) {
  if (!layer) return LayerDocument{};
  return ParseSettings(layer->text, {which, layer->pointer}, layer->shape);
}

}  // namespace

SettingsResult<ResolvedSettings> ResolveSettings(const LayersInput& input) {
  TRY_ASSIGN(const LayerDocument user, ParseLayer(input.user, Layer::kUser));
  TRY_ASSIGN(const LayerDocument project, ParseLayer(input.project, Layer::kProject));
  ResolvedSettings resolved;
  SettingsContent content = Flatten(user, input.platform);
  CollectPermissions(user, input.platform, resolved.agent_permissions);
  const SettingsContent asked = Flatten(project, input.platform);
  std::vector<PermissionsContent> asked_permissions;
  CollectPermissions(project, input.platform, asked_permissions);

  if (input.project_trusted) {
    content.Overlay(asked);
    resolved.settings = CompleteSettings(content, input.platform);
    for (PermissionsContent& permissions : asked_permissions) {
      resolved.agent_permissions.push_back(std::move(permissions));
    }
  } else {
    resolved.settings = CompleteSettings(content, input.platform);
    resolved.refused = Tighten(asked, resolved.settings);
    for (const PermissionsContent& permissions : asked_permissions)
      RefusePermissions(permissions, resolved.refused);
  }
  if (input.permissions) {
    const Origin root{Layer::kPermissions, input.permissions->pointer};
    TRY_ASSIGN(const PermissionsContent approved, ParsePermissions(input.permissions->text, root));
    ApplyPermissions(approved, resolved.settings);
  }
  return resolved;
}

}  // namespace spty
