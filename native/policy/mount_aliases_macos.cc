#include "policy/mount_aliases.h"

namespace spty {

// There are no bind mounts, and Seatbelt's rules name the data volume's second place themselves.
Result<std::vector<MountPoint>> ReadMounts() { return std::vector<MountPoint>(); }

}  // namespace spty
