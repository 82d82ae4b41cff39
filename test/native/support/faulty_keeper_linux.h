// A keeper for which certain system calls fail, in itself and in its child.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace spty {

struct Fault {
  long call;           // SYS_...
  int err;             // what it answers
  int argument = -1;   // only if this argument...
  uint32_t value = 0;  // ...has this value
  bool child = false;  // only in what the keeper forks
};

class FaultyKeeper {
 public:
  explicit FaultyKeeper(const std::vector<Fault>& faults);
  // For SpawnRequest::keeper_path.
  std::string path() const { return dir_.File("keeper"); }

 private:
  TempDir dir_;
};

}  // namespace spty
