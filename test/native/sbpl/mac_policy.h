// Policies as they would be on a Mac, made without one: everything that the settings name is taken to exist.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "policy/policy.h"
#include "policy/rule_set.h"

namespace spty::sbpl {

Grant MacGrant(const std::string& path, Rights rights, GrantKind kind = GrantKind::kSystem,
               FileType type = FileType::kDirectory);
Hole MacHole(const std::string& path, bool denies_read, bool exists = true,
             HoleKind kind = HoleKind::kCredential);

// For /Users/me/project, with these user settings, which must resolve. $TMPDIR is /var/folders/zz/me/T.
std::shared_ptr<const Policy> MacPolicy(std::string_view settings);

}  // namespace spty::sbpl
