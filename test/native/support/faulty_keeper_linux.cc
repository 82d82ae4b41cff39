#include "support/faulty_keeper_linux.h"

#include <sstream>

namespace spty {

FaultyKeeper::FaultyKeeper(const std::vector<Fault>& faults) {
  // A script's first line may be no longer than 255 bytes; the build folder's path may be.
  std::filesystem::create_symlink(std::string(SPTY_PROBE_DIR) + "/faulty_keeper_linux", dir_.File("probe"));
  std::ostringstream script;
  script << "#!" << dir_.File("probe") << "\n" << SPTY_KEEPER_PATH << "\n";
  for (const Fault& fault : faults) {
    script << fault.call << " " << fault.argument << " " << fault.value << " " << fault.err << " "
           << (fault.child ? "child" : "all") << "\n";
  }
  dir_.Write("keeper", script.str(), 0755);
}

}  // namespace spty
