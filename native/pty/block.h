// A block of bytes between the host and the pump: terminal output, or input that the kernel has not taken
// yet.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace spty {

struct Block {
  // One event in JavaScript carries at most this much.
  static constexpr size_t kCapacity = size_t{64} << 10;

  size_t size = 0;
  bool ascii = true;  // output: no byte above 0x7f
  char bytes[kCapacity];

  size_t room() const { return kCapacity - size; }
  std::string_view Filled() const { return {bytes, size}; }
};

// Blocks are recycled through a small process-wide store: a fresh one costs sixteen page faults.
std::unique_ptr<Block> NewBlock();
void Recycle(std::unique_ptr<Block> block);

}  // namespace spty
