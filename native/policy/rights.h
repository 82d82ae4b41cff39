// What a grant allows. In order: each includes the ones before it.
#pragma once

#include <cstdint>
#include <string_view>

#include "settings/types.h"

namespace spty {

// Writing includes executing: with different masks on two writable roots the kernel refuses to move a file
// from one to the other, and package managers do little else.
enum class Rights : uint8_t { kNone, kRead, kReadExecute, kReadWrite };

// What somebody asks about.
enum class Access : uint8_t { kRead, kExecute, kWrite, kConnect };

template <>
std::span<const EnumName<Rights>> EnumNames();
template <>
std::span<const EnumName<Access>> EnumNames();

// The least grant that permits the access; kNone for kConnect, which no file right decides.
constexpr Rights RightsFor(Access access) {
  switch (access) {
    case Access::kRead:
      return Rights::kRead;
    case Access::kExecute:
      return Rights::kReadExecute;
    case Access::kWrite:
      return Rights::kReadWrite;
    case Access::kConnect:
      break;
  }
  return Rights::kNone;
}

}  // namespace spty
