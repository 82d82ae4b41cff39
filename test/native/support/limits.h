// Lowers what this process may use, for as long as the object lives.
#pragma once

#include <sys/resource.h>

namespace spty {

// Leaves room for exactly `spare` more descriptors. Nothing else may open or close any meanwhile.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int spare);
  ~DescriptorLimit();
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace spty
