// Runs a classic BPF program over seccomp_data as the kernel would, for programs of either architecture.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "uapi/seccomp.h"

namespace spty {

// What the program answers; nothing if the kernel would not accept it: an instruction that is not known here,
// a jump or a load out of bounds, or a way past the end.
std::optional<uint32_t> RunBpf(const std::vector<SockFilter>& program, const SeccompData& data);

}  // namespace spty
