// What a project that nobody vouched for may change: it may take away, never add.
#pragma once

#include <vector>

#include "settings/settings.h"

namespace spty {

// Applies to `settings` whatever in `asked` takes something away, and returns what it would have added.
// The result allows nothing that `settings` did not allow before.
std::vector<Refusal> Tighten(const SettingsContent& asked, Settings& settings);

// An untrusted project cannot approve anything for itself.
void RefusePermissions(const PermissionsContent& asked, std::vector<Refusal>& refused);

}  // namespace spty
