#include "track/session_mark.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/fd.h"
#include "track/process_ref.h"

namespace spty {
namespace {

constexpr std::string_view kPrefix = ".sandboxed-pty-";
constexpr size_t kUuidLength = 36;

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

// Whether the name is that of a mark whose owner is known to be gone.
bool IsOrphan(std::string_view name) {
  if (!name.starts_with(kPrefix) || name.size() <= kPrefix.size() + kUuidLength + 1) return false;
  const size_t end = name.size() - kUuidLength - 1;
  return name[end] == '-' && !OwnerLives(std::string(name.substr(kPrefix.size(), end - kPrefix.size())));
}

// Nothing but a directory "allow" in it, or nothing at all.
bool IsMark(int dir) {
  struct CloseDir {
    void operator()(DIR* opened) const { closedir(opened); }
  };
  const int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDir> entries(copy >= 0 ? fdopendir(copy) : nullptr);
  if (entries == nullptr) return false;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat info;
    if (name != "allow" || fstatat(dir, "allow", &info, AT_SYMLINK_NOFOLLOW) == -1 || !S_ISDIR(info.st_mode))
      return false;
  }
  return true;
}

bool RemoveOrphan(int place, const std::string& name, const std::string& mark, const EndMarked& end) {
  const Fd dir(openat(place, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info;
  if (!dir.valid() || fstat(dir.get(), &info) == -1 || info.st_uid != geteuid()) return false;
  if (!IsMark(dir.get())) return false;
  // A keeper outlives its host for as long as its session resists, and needs the mark to find who does.
  if (flock(dir.get(), LOCK_EX | LOCK_NB) == -1 || !end(mark)) return false;
  if (unlinkat(dir.get(), "allow", AT_REMOVEDIR) == -1 && errno != ENOENT) return false;
  return unlinkat(place, name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace

Result<std::string> NewSessionMark(const std::string& place) {
  TRY_ASSIGN(const std::string uuid, RandomUuid());
  return place + "/" + std::string(kPrefix) + OwnerTag() + "-" + uuid;
}

size_t SweepMarks(const std::string& place, const EndMarked& end) {
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  const std::unique_ptr<DIR, CloseDir> dir(opendir(place.c_str()));
  size_t removed = 0;
  while (const dirent* entry = dir == nullptr ? nullptr : readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (IsOrphan(name)) removed += RemoveOrphan(dirfd(dir.get()), name, place + "/" + name, end) ? 1 : 0;
  }
  return removed;
}

}  // namespace spty
