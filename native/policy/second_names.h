// Grants of directories that lead to something protected, by other names than those that lead there.
#pragma once

#include "policy/policy_builder.h"

namespace spty {

// Landlock's rule is for a directory itself, by whatever name it was granted, and counts for all that is
// reached through it by any of its names. Where file systems are mounted more than once, a grant may be the
// same directory as one above a credential, although no path says so (a directory with a mount in it that is
// itself mounted a second time without that). What would be the credential's name in there is closed, too, so
// that the directory is not granted as a whole. After all grants and holes have been collected.
Failure CloseSecondNames(PolicyBuilder& builder);

}  // namespace spty
