#include "keeper/gate_unix_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper/gate_place_linux.h"
#include "keeper/gate_sockets_linux.h"
#include "keeper/unix_diag_linux.h"
#include "uapi/openat2.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

constexpr size_t kPathOffset = offsetof(sockaddr_un, sun_path);
constexpr int kResolveAttempts = 16;

// "/proc/self" would be ours, not the caller's; what makes it dangerous are the magic links behind it, and
// those are not followed.
Fd Resolve(const UnixTarget& target, int* err) {
  uapi::OpenHow how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = uapi::kResolveNoMagiclinks;
  int start = target.directory.get();
  if (target.path[0] == '/') {
    how.resolve |= uapi::kResolveInRoot;
    start = target.root.get();
  } else {
    // An absolute link in a relative path would be resolved in our root.
    Fd own_root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!own_root.valid() || !IsSameDirectory(own_root, target.root)) {
      *err = EACCES;
      return Fd();
    }
  }
  for (int attempt = 0; attempt < kResolveAttempts; ++attempt) {
    Fd file(static_cast<int>(syscall(uapi::kSysOpenat2, start, target.path, &how, sizeof how)));
    if (file.valid()) return file;
    // EAGAIN: something was renamed while ".." was on the way.
    if (errno != EAGAIN) break;
  }
  // A kernel without openat2 cannot resolve safely; and EAGAIN has another meaning for the caller.
  bool plain = errno != ENOSYS && errno != EAGAIN && errno != EPERM && errno != E2BIG && errno != EINVAL;
  *err = errno == EMFILE || errno == ENFILE ? EAGAIN : plain ? errno : EACCES;
  return Fd();
}

bool IsSameFile(const Fd& file, const struct stat& expected) {
  struct stat info;
  return file.valid() && fstat(file.get(), &info) == 0 && info.st_dev == expected.st_dev &&
         info.st_ino == expected.st_ino;
}

// Who listens on this file. unix_diag cuts the file's number off at 32 bits, and on a file system with
// several number spaces (btrfs) it says the whole one's device: another file may look the same.
int FindListenerOf(const Fd& file, const struct stat& info, ListenerFound* found) {
  ListenerQuery query;
  query.device = KernelDevice(info.st_dev);
  query.inode = static_cast<uint32_t>(info.st_ino);
  if (int err = FindListener(query, found); err != 0 || found->count > 0) return err;
  if (!FindSuperblock(file, &query.device) || query.device == KernelDevice(info.st_dev)) return 0;
  return FindListener(query, found);
}

// The socket is known by its file: a file is made by bind(2) for one socket and never gets another, and
// while we hold it open its number is not reused.
int JudgeFile(const Fd& file, const GateRules& rules) {
  struct stat info;
  if (fstat(file.get(), &info) == -1) return EACCES;
  if (!S_ISSOCK(info.st_mode)) return ECONNREFUSED;
  ListenerFound found;
  if (FindListenerOf(file, info, &found) != 0) return EACCES;
  // A file that a dead server left behind, as far as we can see. Programs start a new one then.
  if (found.count == 0) return ECONNREFUSED;
  if (found.count > 1) return EACCES;
  if (IsOwnSocket(found.cookie, info.st_dev, info.st_ino)) return 0;
  // A link or a rename may have brought a stranger's socket to where it was found; its bound name does not
  // change by that. That the name leads to this very file shows that it was bound in this tree of files.
  BoundPlace place;
  if (!IsSameFile(OpenBoundName(found.name, &place), info)) return EACCES;
  return IsWithin(place, rules) ? 0 : EACCES;
}

}  // namespace

int PrepareUnix(const uapi::SeccompNotif& request, const CallerAddress& address, UnixTarget* target) {
  size_t length = static_cast<size_t>(address.length);
  if (length <= kPathOffset || length > sizeof(sockaddr_un)) return EINVAL;
  sockaddr_un name{};
  memcpy(&name, address.bytes, length);
  if (name.sun_family != AF_UNIX) return EINVAL;
  target->abstract = name.sun_path[0] == '\0';
  if (target->abstract) return 0;
  memcpy(target->path, name.sun_path, length - kPathOffset);  // need not be terminated
  if (int err = TakeRoot(request, &target->root); err != 0) return err;
  return target->path[0] == '/' ? 0 : TakeWorkingDirectory(request, &target->directory);
}

int JudgeUnix(const UnixTarget& target, const GateRules& rules, Fd* pinned) {
  // Whoever has an abstract name now may have given it away when we connect, and nothing can be held that
  // would prevent that. So if the kernel does not see to it, there are none.
  if (target.abstract) return rules.abstract_scoped ? 0 : EPERM;
  int err = 0;
  Fd file = Resolve(target, &err);
  if (!file.valid()) return err;
  err = JudgeFile(file, rules);
  if (err == 0) *pinned = static_cast<Fd&&>(file);
  return err;
}

int RememberListener(uint64_t cookie, const UnixTarget& target) {
  if (target.path[0] == '\0') return 0;
  int err = 0;
  struct stat info;
  Fd file = Resolve(target, &err);
  if (!file.valid() || fstat(file.get(), &info) == -1 || !S_ISSOCK(info.st_mode)) return 0;
  // The session may have put somebody else's file in the place of its own.
  ListenerFound found;
  if (FindListenerOf(file, info, &found) != 0) return 0;
  if (found.count > 1 || (found.count == 1 && found.cookie != cookie)) return 0;
  return AddOwnSocket(cookie, info.st_dev, info.st_ino);
}

}  // namespace spty
