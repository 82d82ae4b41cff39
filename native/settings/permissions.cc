// Approvals on top of the settings.
#include "settings/settings.h"

namespace spty {
namespace {

void Grant(const Field<bool>& approved, Sourced<bool>& setting) {
  if (approved && approved->value && !setting.value) setting = *approved;
}

template <typename T>
void Append(const std::optional<SourcedList<T>>& approved, SourcedList<T>& list) {
  if (!approved) return;
  list.items.insert(list.items.end(), approved->items.begin(), approved->items.end());
}

}  // namespace

void ApplyPermissions(const PermissionsContent& permissions, Settings& settings) {
  Append(permissions.network_hosts, settings.network_hosts);
  Append(permissions.write_paths, settings.additional_read_write);
  Grant(permissions.allow_all_hosts, settings.network_all);
  Grant(permissions.allow_fs_write_all, settings.allow_fs_write_all);
  Grant(permissions.allow_unsandboxed, settings.allow_unsandboxed);
  if (permissions.allow_git_access && permissions.allow_git_access->value) {
    settings.git_access = {GitAccess::kFull, permissions.allow_git_access->origin};
  }
}

const Settings& ResolvedSettings::ForKind(SessionKind kind) const {
  return kind == SessionKind::kTool && tool_settings ? *tool_settings : settings;
}

}  // namespace spty
