// The functions on bytes that the compiler and the keeper call. Size matters here, speed does not.
#include <stddef.h>

// Otherwise the compiler recognises each of these loops and turns it into a call of the very function it is
// in.
#if defined(__clang__)
#define SPTY_PLAIN_LOOP __attribute__((no_builtin))
#else
#define SPTY_PLAIN_LOOP
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

extern "C" {

SPTY_PLAIN_LOOP void* memcpy(void* __restrict to, const void* __restrict from, size_t size) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  for (size_t i = 0; i < size; ++i) out[i] = in[i];
  return to;
}

SPTY_PLAIN_LOOP void* memmove(void* to, const void* from, size_t size) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  if (out <= in) {
    for (size_t i = 0; i < size; ++i) out[i] = in[i];
  } else {
    for (size_t i = size; i > 0; --i) out[i - 1] = in[i - 1];
  }
  return to;
}

SPTY_PLAIN_LOOP void* memset(void* to, int value, size_t size) {
  auto* out = static_cast<unsigned char*>(to);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<unsigned char>(value);
  return to;
}

SPTY_PLAIN_LOOP int memcmp(const void* a, const void* b, size_t size) {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < size; ++i) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}

SPTY_PLAIN_LOOP void* memchr(const void* from, int value, size_t size) {
  const auto* in = static_cast<const unsigned char*>(from);
  for (size_t i = 0; i < size; ++i) {
    if (in[i] == static_cast<unsigned char>(value)) return const_cast<unsigned char*>(in + i);
  }
  return nullptr;
}

SPTY_PLAIN_LOOP size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

SPTY_PLAIN_LOOP int strcmp(const char* a, const char* b) {
  for (; *a == *b; ++a, ++b) {
    if (*a == '\0') return 0;
  }
  return static_cast<unsigned char>(*a) < static_cast<unsigned char>(*b) ? -1 : 1;
}

// Decimal only, without leading blanks, and saturating: what numbers in /proc need.
int atoi(const char* text) {
  const bool negative = *text == '-';
  if (negative) ++text;
  int value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    const int digit = *text - '0';
    if (value > (__INT_MAX__ - digit) / 10) return negative ? -__INT_MAX__ - 1 : __INT_MAX__;
    value = value * 10 + digit;
  }
  return negative ? -value : value;
}

}  // extern "C"
