#include "track/session_mark.h"

#include <sys/random.h>
#include <sys/stat.h>
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

Result<SessionMark> SessionMark::Create(const std::string& place) {
  TRY_ASSIGN(const std::string uuid, RandomUuid());
  const std::string path = place + "/.sandboxed-pty-" + uuid;
  // EEXIST too: nobody can have guessed the name, so something is very wrong.
  if (mkdir(path.c_str(), S_IRWXU) == -1) return Error{Stage::kMark, errno, path};
  SessionMark mark(path);
  const std::string allow = path + "/allow";
  if (mkdir(allow.c_str(), S_IRWXU) == -1) return Error{Stage::kMark, errno, allow};
  return mark;
}

SessionMark::SessionMark(SessionMark&& other) noexcept : path_(std::move(other.path_)), owned_(other.owned_) {
  other.owned_ = false;
}

SessionMark::~SessionMark() {
  if (!owned_) return;
  (void)rmdir((path_ + "/allow").c_str());
  (void)rmdir(path_.c_str());
}

}  // namespace spty
