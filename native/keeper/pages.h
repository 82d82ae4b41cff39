// Pages of our own instead of a heap: the keeper has none.
#pragma once

#include <stddef.h>
#include <sys/mman.h>

namespace spty {

// Zeroed; null with errno set.
inline void* MapPages(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// For as long as they are needed.
struct Pages {
  explicit Pages(size_t bytes) : size(bytes), data(MapPages(bytes)) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (data != nullptr) munmap(data, size);
  }
  const size_t size;
  void* const data;
};

}  // namespace spty
