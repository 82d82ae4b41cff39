#include "settings/layers.h"

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
  const SettingsResult<LayerDocument> parsed_user = ParseLayer(input.user, Layer::kUser);
  if (!parsed_user.ok()) return parsed_user.errors();
  const SettingsResult<LayerDocument> parsed_project = ParseLayer(input.project, Layer::kProject);
  if (!parsed_project.ok()) return parsed_project.errors();
  const LayerDocument& user = parsed_user.value();
  const LayerDocument& project = parsed_project.value();
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
    const SettingsResult<PermissionsContent> approved = ParsePermissions(input.permissions->text, root);
    if (!approved.ok()) return approved.errors();
    ApplyPermissions(approved.value(), resolved.settings);
  }
  if (!resolved.agent_permissions.empty()) resolved.tool_settings = resolved.settings;
  for (const PermissionsContent& permissions : resolved.agent_permissions) {
    ApplyPermissions(permissions, *resolved.tool_settings);
  }
  return resolved;
}

}  // namespace spty
