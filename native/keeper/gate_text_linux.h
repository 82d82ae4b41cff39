// "/proc/123/cwd" without a C library's formatting.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace spty {

class ShortPath {
 public:
  ShortPath(const char* before, uint64_t number, const char* after) {
    Add(before);
    char digits[20];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) text_[size_++] = digits[--count];
    Add(after);
    text_[size_] = '\0';
  }

  const char* text() const { return text_; }
  size_t size() const { return size_; }

 private:
  // The callers' texts are literals, together far shorter than the array.
  void Add(const char* text) {
    while (*text != '\0') text_[size_++] = *text++;
  }

  char text_[64];
  size_t size_ = 0;
};

// Reads a decimal number at *at and moves behind it. False if there is none.
inline bool ReadNumber(const char** at, uint64_t* number) {
  const char* digit = *at;
  *number = 0;
  while (*digit >= '0' && *digit <= '9') *number = *number * 10 + static_cast<uint64_t>(*digit++ - '0');
  bool found = digit != *at;
  *at = digit;
  return found;
}

}  // namespace spty
