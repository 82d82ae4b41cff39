#include "session/prepared_keeper.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/eintr.h"

namespace spty {
namespace {

// Enough that nobody has that name by chance, and not more: paths of UNIX sockets in there are 107 bytes at
// most.
Result<std::string> RandomLetters() {
  uint8_t bytes[6];
  if (getentropy(bytes, sizeof bytes) != 0) return Error{Stage::kTemp, errno, "getentropy"};
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz012345";
  std::string letters;
  for (uint8_t byte : bytes) letters += kLetters[byte % 32];
  return letters;
}

}  // namespace

Result<PreparedKeeper> PrepareKeeper(const std::string& keeper_path, const std::string& temp_prefix) {
  TRY_ASSIGN(KeeperProcess process, KeeperProcess::Start(keeper_path));
  PreparedKeeper prepared{std::move(process), "", Fd()};
  if (temp_prefix.empty()) return prepared;
  TRY_ASSIGN(const std::string letters, RandomLetters());
  const std::string temp_dir = temp_prefix + letters;
  TRY(prepared.process.Reserve({temp_dir, ""}, -1));
  if (mkdir(temp_dir.c_str(), 0700) != 0) return Error{Stage::kTemp, errno, temp_dir};
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  prepared.temp = AboveStdio(Fd(RetryEintr([&] { return open(temp_dir.c_str(), flags); })));
  if (!prepared.temp.valid()) return Error{Stage::kTemp, errno, temp_dir};
  prepared.temp_dir = temp_dir;
  return prepared;
}

Result<void> VerifyTemp(const PreparedKeeper& prepared, const Policy& policy) {
  if (!prepared.temp.valid()) return {};
  struct stat made {};
  if (fstat(prepared.temp.get(), &made) != 0) return Error{Stage::kTemp, errno, prepared.temp_dir};
  for (const Grant& grant : policy.grants()) {
    if (grant.kind != GrantKind::kTemp) continue;
    if (grant.pin.device != static_cast<uint64_t>(made.st_dev) || grant.pin.inode != made.st_ino)
      return Error{Stage::kTemp, ESTALE, prepared.temp_dir};
  }
  return {};
}

}  // namespace spty
