// What a session may use at most, kept by the controllers of its cgroup.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace spty {

struct CgroupLimits {
  std::optional<uint64_t> processes;
  std::optional<uint64_t> memory_bytes;
  std::optional<double> cpu_percent;

  bool any() const { return processes || memory_bytes || cpu_percent; }
};

// How often a limit was hit since the cgroup was made.
struct LimitHits {
  uint64_t processes = 0;  // a fork that was refused
  uint64_t memory = 0;     // a time that the kernel had to kill for memory
};

// Whether cgroups made in the directory `place` have what these limits need. Asks the kernel to give it to
// them if need be, which works where no process is in `place` itself. {cgroup, ENOTSUP, what is missing
// where}.
Result<void> OfferControllers(int place, const std::string& path, const CgroupLimits& limits);

// Sets them on the cgroup `dir`. ENOTSUP if one of the controllers is not there.
Result<void> ApplyLimits(int dir, const std::string& path, const CgroupLimits& limits);

// The value of "<key> <number>" in the text of an events file; 0 if there is none.
uint64_t EventCount(const std::string& text, const std::string& key);

}  // namespace spty
