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
#include "uapi/faccessat2.h"
#include "uapi/openat2.h"

namespace spty {
namespace {

// Arguments and environment, together and in one piece, that the kernel takes from whoever has a stack of
// kLeastStack.
constexpr size_t kAlwaysFits = size_t{96} * 1024;
constexpr rlim_t kLeastStack = 1U << 20;

// A lookup that asks nobody also fails where somebody mounts or renames something at that moment.
constexpr int kTries = 4;

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

// Only as far as the kernel knows the way by heart: a server or process that has to be asked may not answer,
// and who looks is the host. Not even a disk is waited for: the session's own start finds out as well.
Place Find(const std::string& name) {
  Place place;
  uapi::OpenHow how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = uapi::kResolveNoMagiclinks | uapi::kResolveCached;
  int fd = -1;
  for (int tries = 0; tries < kTries && fd == -1; ++tries) {
    fd = static_cast<int>(syscall(uapi::kSysOpenat2, AT_FDCWD, name.c_str(), &how, sizeof how));
    if (fd == -1 && errno != EAGAIN) break;
  }
  place.fd = AboveStdio(Fd(fd));
  if (!place.fd.valid()) {
    place.err = errno;
  } else if (!IsLocal(place.fd.get())) {
    place.err = EXDEV;
  } else if (fstat(place.fd.get(), &place.info) == -1) {
    place.err = errno;
  }
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

// By modes, access lists and the mount's options. AT_EXECVE_CHECK would know of security modules and of
// writers, too, but must not be asked here: while it looks, no other thread of the process can start one
// (clone is EAGAIN, as during a true exec), and Node.js aborts over that.
bool MayExecuteOrSearch(int fd) {
  return syscall(uapi::kSysFaccessat2, fd, "", X_OK, AT_EACCESS | uapi::kAtEmptyPath) == 0;
}

// A session of somebody with capabilities has none of them if it is confined.
bool HasCapabilities() {
  capability::Header header;
  capability::Sets words[2];
  if (syscall(SYS_capget, &header, words) == -1) return true;
  return (words[0].effective | words[1].effective) != 0;
}

// Whether the kernel gives the program capabilities, or refuses to because they are not to be had.
bool GivesCapabilities(int file) {
  return fgetxattr(file, "security.capability", nullptr, 0) != -1 || (errno != ENODATA && errno != ENOTSUP);
}

class Judge {
 public:
  // `policy`: null if nothing is restricted.
  Judge(const Policy* policy, bool loses_capabilities)
      : policy_(policy), loses_capabilities_(loses_capabilities) {}

  bool WillRun(const std::string& name, Place& place) {
    if (!MayExecute(name, place)) return false;
    const std::optional<std::string> loader = LoaderOfPlace(place, false);
    return loader && (loader->empty() || MayLoad(*loader));
  }

 private:
  bool Grants(const std::string& path) const {
    if (policy_ == nullptr) return true;
    const FileDecision decision = policy_->Decide(path, Rights::kReadExecute);
    if (!decision.allowed || decision.grant == nullptr) return false;
    // Where something is cut out of a grant its directories are listed, and what is not listed is not
    // granted.
    return std::ranges::none_of(policy_->holes(),
                                [&](const Hole& hole) { return IsGrantedAround(*decision.grant, hole); });
  }

  // The owner's bits count for the owner, whatever access lists say; what is somebody else's is doubtful.
  bool IsOwn(const std::string& path) {
    if (std::ranges::count(own_, path) != 0) return true;
    struct stat info {};
    if (stat(path.c_str(), &info) == -1 || info.st_uid != geteuid() || (info.st_mode & S_IXUSR) == 0)
      return false;
    own_.push_back(path);
    return true;
  }

  // Then only modes count, on the whole way. (Not on that of a link to a link: the start finds out.)
  bool WithoutCapabilities(const std::string& path) {
    for (std::string place = path; IsOwn(place); place = ParentOf(place)) {
      if (place == "/") return true;
    }
    return false;
  }

  bool MayExecute(const std::string& name, Place& place) {
    if (place.err != 0 || !S_ISREG(place.info.st_mode) || !MayExecuteOrSearch(place.fd.get())) return false;
    if (!FindOutPath(place) || !Grants(place.path)) return false;
    return !loses_capabilities_ || (WithoutCapabilities(place.path) && WithoutCapabilities(name));
  }

  // The name of what has to load the program, as LoaderOf. Not a file that has to be waited for.
  static std::optional<std::string> LoaderOfPlace(const Place& place, bool gives_capabilities) {
    const std::string name = "/proc/self/fd/" + std::to_string(place.fd.get());
    const Fd file(
        RetryEintr([&] { return open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }));
    if (!file.valid() || (!gives_capabilities && GivesCapabilities(file.get()))) return std::nullopt;
    return LoaderOf(file.get());
  }

  bool MayLoad(const std::string& loader) {
    Place place = Find(loader);
    if (!MayExecute(loader, place)) return false;
    const std::optional<std::string> own = LoaderOfPlace(place, true);
    return own && own->empty();
  }

  const Policy* policy_;
  bool loses_capabilities_;
  std::vector<std::string> own_;  // paths that IsOwn has seen
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
  return place.err == 0 && S_ISDIR(place.info.st_mode) && MayExecuteOrSearch(place.fd.get());
}

}  // namespace

bool WillExecute(const SpawnRequest& request, const std::vector<std::string>& candidates,
                 const std::vector<std::string>& args, const std::vector<std::string>& env) {
  // Whether another user may is not for this one to tell.
  if (request.ids || !Fits(args, env) || !MayEnter(request.cwd)) return false;
  const bool confined = request.policy != nullptr && request.policy->confined();
  Judge judge(confined ? request.policy.get() : nullptr, confined && HasCapabilities());
  for (const std::string& name : candidates) {
    // A relative one is looked for where the session starts, which is not here.
    if (!name.starts_with('/') || HasDotDot(name)) return false;
    Place place = Find(name);
    if (!place.IsOnlyMissing()) return judge.WillRun(name, place);
  }
  return false;
}

}  // namespace spty
