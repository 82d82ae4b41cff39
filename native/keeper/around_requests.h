// The directories with something protected in them, of which the keeper is told before it gets the plan.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "keeper/around.h"

namespace spty {

// Owns them, their memory and their descriptors; in the order in which they came.
class AroundRequests {
 public:
  AroundRequests() = default;
  AroundRequests(AroundRequests&& other) noexcept;
  AroundRequests& operator=(AroundRequests&& other) noexcept;
  AroundRequests(const AroundRequests&) = delete;
  AroundRequests& operator=(const AroundRequests&) = delete;
  ~AroundRequests() { Clear(); }

  // One more, with room for a payload of this size; what is in it is not decoded yet. 0, EPROTO (no such
  // payload), E2BIG (more than is kept) or ENOMEM.
  int Add(uint32_t length);
  // Of the last one.
  char* payload();
  // Decodes it, and takes the directory. 0 or EPROTO.
  int Complete(int directory);

  Around* first() { return first_; }
  void Clear();

 private:
  struct Kept;
  void Take(AroundRequests& other);

  Around* first_ = nullptr;
  Around* last_ = nullptr;
  uint32_t count_ = 0;
  uint32_t bytes_ = 0;
};

}  // namespace spty
