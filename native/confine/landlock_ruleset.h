// A Landlock ruleset: made and filled by the host, entered by somebody else.
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "base/result.h"
#include "uapi/landlock.h"

namespace spty {

class LandlockRuleset {
 public:
  static Result<LandlockRuleset> Create(const landlock::RulesetAttr& attr);

  // Allows `rights` at and below what `fd` refers to. No rights: no rule.
  Result<void> Allow(int fd, uint64_t rights);
  int fd() const { return fd_.get(); }
  Fd Take() { return std::move(fd_); }

 private:
  explicit LandlockRuleset(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace spty
