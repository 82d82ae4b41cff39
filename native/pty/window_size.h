#pragma once

#include <cstdint>

namespace spty {

struct WindowSize {
  uint16_t cols = 80;
  uint16_t rows = 24;
  uint16_t x_pixels = 0;
  uint16_t y_pixels = 0;
};

}  // namespace spty
