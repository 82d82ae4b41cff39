// An order of paths in which a place and whatever is below it are together. Both sides need it, the keeper
// too: no C++ library here.
#pragma once

namespace spty {

// The end of a path before a slash, and that before all else.
inline int RankInPath(char c) {
  if (c == '\0') return 0;
  return c == '/' ? 1 : static_cast<unsigned char>(c) + 1;
}

// Negative, 0 or positive, as strcmp.
inline int ComparePlaces(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return RankInPath(*a) - RankInPath(*b);
}

// The same of the name that a path goes on with.
inline int CompareName(const char* rest, const char* name) {
  while (*name != '\0' && *rest == *name) {
    ++rest;
    ++name;
  }
  if (*name == '\0') return *rest == '\0' || *rest == '/' ? 0 : 1;
  return RankInPath(*rest) - RankInPath(*name);
}

}  // namespace spty
