#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/eintr.h"
#include "base/fd.h"
#include "policy/path_text.h"
#include "session/exec_check.h"
#include "session/native_program.h"
#include "uapi/capability.h"
#include "uapi/execveat.h"
#include "uapi/openat2.h"

namespace spty {
namespace {

// Arguments and environment, together and in one piece, that the kernel takes from whoever has a stack of
// kLeastStack.
constexpr size_t kAlwaysFits = size_t{96} * 1024;
constexpr rlim_t kLeastStack = 1U << 20;

// Of this machine's own disks and memory. Others may keep whoever looks waiting for another machine or a
// process, or, as /proc, say something else to each process.
bool IsLocal(int fd) {
  // As in linux/magic.h: ext2 to ext4, xfs, btrfs, tmpfs, overlayfs, f2fs, squashfs, erofs, zfs, bcachefs.
  constexpr long kLocal[] = {0xef53,     0x58465342, 0x9123683e, 0x01021994, 0x794c7630,
                             0xf2f52010, 0x73717368, 0xe0f5e1e2, 0x2fc12fc1, 0xca451a4e};
  struct statfs info {};
  return fstatfs(fd, &info) == 0 && std::ranges::count(kLocal, static_cast<long>(info.f_type)) != 0;
}

// What a name leads to: for the session, too, as it is no link of /proc's that leads there.
struct Place {
  Fd fd;  // O_PATH
  int err = 0;
  struct stat info {};
  std::string path;  // canonical

  bool IsOnlyMissing() const { return err == ENOENT || err == ENOTDIR; }
};

Place Find(const std::string& name) {
  Place place;
  uapi::OpenHow how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = uapi::kResolveNoMagiclinks;
  place.fd = AboveStdio(Fd(static_cast<int>(
      RetryEintr([&] { return syscall(uapi::kSysOpenat2, AT_FDCWD, name.c_str(), &how, sizeof how); }))));
  if (!place.fd.valid() || fstat(place.fd.get(), &place.info) == -1) {
    place.err = errno;
    return place;
  }
  if (!IsLocal(place.fd.get())) place.err = EXDEV;
  return place;
}

bool FindOutPath(Place& place) {
  char link[PATH_MAX];
  const std::string name = "/proc/self/fd/" + std::to_string(place.fd.get());
  const ssize_t length = readlink(name.c_str(), link, sizeof link);
  if (length <= 0 || length == sizeof link || link[0] != '/') return false;
  place.path.assign(link, static_cast<size_t>(length));
  return true;
}

int ErrorOfNoFile(int flag) {
  return syscall(SYS_execveat, -1, "", nullptr, nullptr, uapi::kAtEmptyPath | flag) == -1 ? errno : 0;
}

// Asked about no file at all: whoever does not look at flags would execute one, and we would be no more.
bool KnowsExecveCheck() {
  return ErrorOfNoFile(uapi::kAtOfNoKernel) == EINVAL && ErrorOfNoFile(uapi::kAtExecveCheck) == EBADF;
}

// The kernel's own answer about the program: modes, access lists, mount options, security modules, and
// whether somebody is writing it.
bool KernelWouldExecute(int fd) {
  static const bool known = KnowsExecveCheck();
  if (!known) return false;
  char* const argv[] = {const_cast<char*>("x"), nullptr};
  char* const env[] = {nullptr};
  return syscall(SYS_execveat, fd, "", argv, env, uapi::kAtEmptyPath | uapi::kAtExecveCheck) == 0;
}

// A session of somebody with capabilities has none of them if it is confined.
bool HasCapabilities() {
  capability::Header header;
  capability::Sets words[2];
  if (syscall(SYS_capget, &header, words) == -1) return true;
  return (words[0].effective | words[1].effective) != 0;
}

bool EverybodyMay(const std::string& path) {
  constexpr mode_t kExecute = S_IXUSR | S_IXGRP | S_IXOTH;
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (info.st_mode & kExecute) == kExecute;
}

// Then only the modes count, on the whole way.
bool WithoutCapabilities(const std::string& path) {
  for (std::string place = path; EverybodyMay(place); place = ParentOf(place)) {
    if (place == "/") return true;
  }
  return false;
}

// Whether the kernel gives the program capabilities, or refuses to because they are not to be had.
bool GivesCapabilities(int file) {
  return fgetxattr(file, "security.capability", nullptr, 0) != -1 || (errno != ENODATA && errno != ENOTSUP);
}

struct Judge {
  const Policy* policy;  // null: nothing is restricted
  bool loses_capabilities;

  bool Grants(const std::string& path) const {
    if (policy == nullptr) return true;
    const FileDecision decision = policy->Decide(path, Rights::kReadExecute);
    if (!decision.allowed || decision.grant == nullptr) return false;
    // Where something is cut out of a grant its directories are listed, and what is not listed is not
    // granted.
    return std::ranges::none_of(policy->holes(),
                                [&](const Hole& hole) { return IsGrantedAround(*decision.grant, hole); });
  }

  bool MayExecute(const std::string& name, Place& place) const {
    if (place.err != 0 || !S_ISREG(place.info.st_mode) || !FindOutPath(place)) return false;
    if (loses_capabilities && !(WithoutCapabilities(name) && WithoutCapabilities(place.path))) return false;
    return Grants(place.path);
  }

  // The name of what has to load the program, as LoaderOf. Not a file that has to be waited for.
  static std::optional<std::string> LoaderOfPlace(const Place& place, bool gives_capabilities) {
    const std::string name = "/proc/self/fd/" + std::to_string(place.fd.get());
    const Fd file(
        RetryEintr([&] { return open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }));
    if (!file.valid() || (!gives_capabilities && GivesCapabilities(file.get()))) return std::nullopt;
    return LoaderOf(file.get());
  }

  bool MayLoad(const std::string& loader) const {
    Place place = Find(loader);
    if (!MayExecute(loader, place) || faccessat(AT_FDCWD, loader.c_str(), X_OK, AT_EACCESS) != 0)
      return false;
    const std::optional<std::string> own = LoaderOfPlace(place, true);
    return own && own->empty();
  }

  bool WillRun(const std::string& name, Place& place) const {
    if (!MayExecute(name, place) || !KernelWouldExecute(place.fd.get())) return false;
    const std::optional<std::string> loader = LoaderOfPlace(place, false);
    return loader && (loader->empty() || MayLoad(*loader));
  }
};

bool Fits(const std::vector<std::string>& args, const std::vector<std::string>& env) {
  size_t total = 0;
  for (const auto* list : {&args, &env}) {
    for (const std::string& text : *list) total += text.size() + 1 + sizeof(char*);
  }
  rlimit stack{};
  return total < kAlwaysFits && getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur >= kLeastStack;
}

bool MayEnter(const std::string& directory) {
  const Place place = Find(directory);
  return place.err == 0 && S_ISDIR(place.info.st_mode) &&
         faccessat(AT_FDCWD, directory.c_str(), X_OK, AT_EACCESS) == 0;
}

}  // namespace

bool WillExecute(const SpawnRequest& request, const std::vector<std::string>& candidates,
                 const std::vector<std::string>& args, const std::vector<std::string>& env) {
  // Whether another user may is not for this one to tell.
  if (request.ids || !Fits(args, env) || !MayEnter(request.cwd)) return false;
  const bool confined = request.policy != nullptr && request.policy->confined();
  const Judge judge{confined ? request.policy.get() : nullptr, confined && HasCapabilities()};
  for (const std::string& name : candidates) {
    // A relative one is looked for where the session starts, which is not here.
    if (!name.starts_with('/') || HasDotDot(name)) return false;
    Place place = Find(name);
    if (!place.IsOnlyMissing()) return judge.WillRun(name, place);
  }
  return false;
}

}  // namespace spty
