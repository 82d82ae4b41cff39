// faccessat2(2), Linux 5.8. The C libraries' own faccessat knows no empty path, or asks another call instead.
#pragma once

namespace spty::uapi {

// The same on every architecture.
inline constexpr long kSysFaccessat2 = 439;
inline constexpr int kAtEmptyPath = 0x1000;

}  // namespace spty::uapi
