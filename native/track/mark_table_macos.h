// The process table of macOS as FingerprintTracker wants it. Also part of the keeper: no C++ library, no
// heap.
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "track/fingerprint_tracker.h"

namespace spty {

class MarkTable {
 public:
  // `mark` is the session's directory, "" for none. StartWatch, NobodyBorn and Newest fork: they are for a
  // process with one thread.
  explicit MarkTable(const char* mark);
  MarkTable(const MarkTable&) = delete;
  MarkTable& operator=(const MarkTable&) = delete;

  bool marked() const { return marked_; }
  bool StartWatch();
  bool NobodyBorn();
  int List(ListedProcess** list, size_t* count);
  MarkProbe Probe(int32_t pid);
  void Kill(int32_t pid);
  int32_t Newest();
  // Gives the memory back. No destructor: a keeper's table is there until it ends, and has nothing to run
  // then.
  void Free();

 private:
  bool Grow(size_t bytes);

  bool marked_ = false;
  char allow_[PATH_MAX];
  char deny_[PATH_MAX];
  int32_t watch_began_ = 0;
  void* buffer_ = nullptr;  // pages of our own, for what sysctl tells
  size_t buffer_size_ = 0;
};

}  // namespace spty
