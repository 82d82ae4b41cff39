#include "confine/landlock_rights.h"

#include "uapi/landlock.h"

namespace spty {
namespace {

using namespace landlock;

constexpr uint64_t kRead = kReadFile | kReadDir;
// Making device nodes takes a capability that no session has; reaching one that is there already must be
// granted by its own name.
constexpr uint64_t kWrite = kWriteFile | kRemoveDir | kRemoveFile | kMakeDir | kMakeReg | kMakeSock |
                            kMakeFifo | kMakeSym | kRefer | kTruncate;
constexpr uint64_t kAbi1 = (kMakeSym << 1) - 1;
// The only ones that the kernel accepts for something that is no directory.
constexpr uint64_t kOnFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev;

uint64_t Handled(int abi) {
  uint64_t rights = abi >= 1 ? kAbi1 : 0;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDev;
  if (abi >= 9) rights |= kResolveUnix;
  return rights;
}

uint64_t Network(int abi) {
  uint64_t rights = abi >= 4 ? kBindTcp | kConnectTcp : 0;
  if (abi >= 10) rights |= kBindUdp | kConnectSendUdp;
  return rights;
}

}  // namespace

LandlockRights::LandlockRights(int abi)
    : handled_fs(Handled(abi)),
      network(Network(abi)),
      scopes(abi >= 6 ? kScopeAbstractUnix | kScopeSignal : 0) {}

uint64_t LandlockRights::For(Rights rights, FileType type) const {
  uint64_t mask = 0;
  if (rights >= Rights::kRead) mask |= kRead;
  if (rights >= Rights::kReadExecute) mask |= kExecute;
  if (rights >= Rights::kReadWrite) mask |= kWrite;
  if (type != FileType::kDirectory) mask &= kOnFiles;
  return mask & handled_fs;
}

uint64_t LandlockRights::ForTerminal(FileType type) const {
  const uint64_t mask = kReadFile | kWriteFile | kTruncate | kIoctlDev;
  return (type == FileType::kDirectory ? mask | kReadDir : mask) & handled_fs;
}

uint64_t LandlockRights::ForDevice() const { return (kReadFile | kWriteFile | kTruncate) & handled_fs; }

}  // namespace spty
