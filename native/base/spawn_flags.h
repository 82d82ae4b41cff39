// What posix_spawn can be asked for beyond POSIX.
#pragma once

#include <spawn.h>

namespace spty {

#ifdef __APPLE__
// Nothing but what the file actions name reaches the new process.
inline constexpr short kSpawnNothingElse = POSIX_SPAWN_CLOEXEC_DEFAULT;
#else
inline constexpr short kSpawnNothingElse = 0;
#endif

}  // namespace spty
