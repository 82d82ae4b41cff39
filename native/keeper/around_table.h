// Which files have been met by which name, for somebody without a heap.
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "keeper/pages.h"

namespace spty {

class FileTable {
 public:
  struct File {
    uint64_t device;
    uint64_t inode;
    const char* path;  // lent
    size_t length;     // of it, as far as it is meant
  };

  // For at most so many files; null pages are left to Add.
  explicit FileTable(size_t most) : slots_(SlotsFor(most)), pages_(slots_ * sizeof(File)) {}

  // 0, ENOMEM, or ENOSPC if there are more than was said. A file that has the name already is not added.
  int Add(const File& file) {
    if (pages_.data == nullptr) return ENOMEM;
    size_t at = Home(file.device, file.inode);
    for (; table()[at].path != nullptr; at = Next(at)) {
      if (IsSame(table()[at], file) && HasName(table()[at], file.path, file.length)) return 0;
    }
    if (count_ >= slots_ / 2) return ENOSPC;
    table()[at] = file;
    ++count_;
    return 0;
  }

  // The file as it is known, if that is not by this name.
  const File* ByAnotherName(const File& file) const {
    if (pages_.data == nullptr) return nullptr;
    const File* known = nullptr;
    for (size_t at = Home(file.device, file.inode); table()[at].path != nullptr; at = Next(at)) {
      if (!IsSame(table()[at], file)) continue;
      if (HasName(table()[at], file.path, file.length)) return nullptr;
      known = &table()[at];
    }
    return known;
  }

 private:
  // At most every second one is taken, so that a search ends soon.
  static size_t SlotsFor(size_t most) {
    size_t slots = 64;
    while (slots < 2 * most) slots *= 2;
    return slots;
  }

  static bool IsSame(const File& a, const File& b) { return a.device == b.device && a.inode == b.inode; }
  static bool HasName(const File& file, const char* path, size_t length) {
    return file.length == length && memcmp(file.path, path, length) == 0;
  }

  size_t Home(uint64_t device, uint64_t inode) const {
    const uint64_t mixed = (inode ^ device << 32) * 0x9e3779b97f4a7c15;
    return static_cast<size_t>(mixed >> 32) & (slots_ - 1);
  }
  size_t Next(size_t at) const { return (at + 1) & (slots_ - 1); }
  File* table() const { return static_cast<File*>(pages_.data); }

  const size_t slots_;
  const Pages pages_;
  size_t count_ = 0;
};

}  // namespace spty
