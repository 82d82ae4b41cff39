// How often a test with random cases repeats itself.
#pragma once

namespace spty {

// Instrumented code is slow, and looks for something else than the test does.
constexpr int Repeats(int count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return count / 10;
#else
  return count;
#endif
}

}  // namespace spty
