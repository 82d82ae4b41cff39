#include "track/session_mark.h"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace spty {
namespace {

Result<std::string> RandomUuid() {
  std::array<uint8_t, 16> bytes;
  if (getentropy(bytes.data(), bytes.size()) == -1) return Error{Stage::kMark, errno, "getentropy"};
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string uuid;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += kDigits[bytes[i] >> 4];
    uuid += kDigits[bytes[i] & 0x0f];
  }
  return uuid;
}

}  // namespace

Result<std::string> NewSessionMark(const std::string& place) {
  TRY_ASSIGN(const std::string uuid, RandomUuid());
  return place + "/.sandboxed-pty-" + uuid;
}

}  // namespace spty
