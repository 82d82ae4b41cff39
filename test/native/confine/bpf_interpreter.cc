#include "confine/bpf_interpreter.h"

#include <cstring>

namespace spty {
namespace {

// By how much to skip the instructions after this jump.
std::optional<size_t> Distance(const SockFilter& jump, uint32_t accumulator) {
  bool holds = false;
  switch (jump.code) {
    case kBpfJump:
      return jump.k;
    case kBpfJumpIfEqual:
      holds = accumulator == jump.k;
      break;
    case kBpfJumpIfAtLeast:
      holds = accumulator >= jump.k;
      break;
    case kBpfJumpIfAnyBitSet:
      holds = (accumulator & jump.k) != 0;
      break;
    default:
      return std::nullopt;
  }
  return holds ? jump.jump_true : jump.jump_false;
}

}  // namespace

std::optional<uint32_t> RunBpf(const std::vector<SockFilter>& program, const SeccompData& data) {
  uint32_t accumulator = 0;
  // Jumps go forward only, so this ends.
  for (size_t at = 0; at < program.size(); ++at) {
    const SockFilter& instruction = program[at];
    if (instruction.code == kBpfReturn) return instruction.k;
    if (instruction.code == kBpfLoadWord) {
      if (instruction.k % 4 != 0 || instruction.k > sizeof data - 4) return std::nullopt;
      memcpy(&accumulator, reinterpret_cast<const char*>(&data) + instruction.k, 4);
    } else if (instruction.code == kBpfAnd) {
      accumulator &= instruction.k;
    } else {
      std::optional<size_t> distance = Distance(instruction, accumulator);
      if (!distance) return std::nullopt;
      at += *distance;
    }
  }
  return std::nullopt;
}

}  // namespace spty
