#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "confine/landlock_rules.h"
#include "policy/path_text.h"

namespace spty {
namespace {

Error RuleError(int err, const std::string& path) { return {Stage::kConfinement, err, path}; }

// Writing there changes the system or other processes, not files. However wide a grant is, it does not mean
// that. By name too: /sys/fs/cgroup may be a tmpfs with the hierarchies mounted below it.
bool IsKernelInterface(int fd, std::string_view path) {
  if (IsWithin(path, "/proc") || IsWithin(path, "/sys")) return true;
  struct statfs info {};
  if (fstatfs(fd, &info) != 0) return true;
  return info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC ||
         info.f_type == CGROUP2_SUPER_MAGIC || info.f_type == CGROUP_SUPER_MAGIC;
}

bool IsTerminalDevice(std::string_view path) {
  return path == "/dev/tty" || path == "/dev/ptmx" || IsWithin(path, "/dev/pts");
}

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};

class RuleMaker {
 public:
  RuleMaker(const Policy& policy, const LandlockRights& rights, const AddRule& add)
      : policy_(policy), rights_(rights), add_(add) {}

  Result<void> AddGrant(const Grant& grant) {
    const PinnedPath& pin = grant.pin;
    if (auto same = VerifyPin(pin); !same.ok()) return RuleError(same.error().err, pin.path);
    if (grant.kind == GrantKind::kDevice && pin.type != FileType::kDirectory) {
      return add_(pin.fd.get(),
                  IsTerminalDevice(pin.path) ? rights_.ForTerminal(pin.type) : rights_.ForDevice());
    }
    if (grant.kind == GrantKind::kDevice && IsTerminalDevice(pin.path))
      return add_(pin.fd.get(), rights_.ForTerminal(pin.type));
    const std::vector<const Hole*> holes = HolesIn(grant);
    if (holes.empty()) return Add(pin.fd.get(), pin.path, grant.rights, pin.type);
    return AddAround(pin.fd.get(), pin.path, grant.rights, holes);
  }

 private:
  Result<void> Add(int fd, const std::string& path, Rights granted, FileType type) {
    if (granted == Rights::kReadWrite && IsKernelInterface(fd, path)) granted = Rights::kRead;
    return add_(fd, rights_.For(granted, type));
  }

  // Those that are cut out here. The others are reported instead (see enforcement.cc).
  std::vector<const Hole*> HolesIn(const Grant& grant) const {
    std::vector<const Hole*> holes;
    for (const Hole& hole : policy_.holes()) {
      if (IsGrantedAround(grant, hole)) holes.push_back(&hole);
    }
    return holes;
  }

  // Everything in the directory but the holes. The directory itself gets no right, not even to be listed:
  // that would count for the holes too.
  Result<void> AddAround(int dir_fd, const std::string& path, Rights granted,
                         const std::vector<const Hole*>& holes) {
    Fd readable(openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!readable.valid()) {
      // A directory that we may not list ourselves: nothing in it is granted.
      return errno == EACCES ? Result<void>() : RuleError(errno, path);
    }
    std::unique_ptr<DIR, CloseDir> dir(fdopendir(readable.get()));
    if (dir == nullptr) return RuleError(errno, path);
    (void)readable.Take();  // the stream owns it now
    for (;;) {
      errno = 0;
      const dirent* entry = readdir(dir.get());
      if (entry == nullptr) return errno == 0 ? Result<void>() : RuleError(errno, path);
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || entry->d_type == DT_LNK) continue;
      TRY(AddEntry(dirfd(dir.get()), path, *entry, granted, holes));
    }
  }

  Result<void> AddEntry(int dir_fd, const std::string& dir_path, const dirent& entry, Rights granted,
                        const std::vector<const Hole*>& holes) {
    const std::string path = JoinPath(dir_path, entry.d_name);
    std::vector<const Hole*> inside;
    for (const Hole* hole : holes) {
      if (hole->path == path) {
        // Closed for everything, or for writing only.
        if (hole->denies_read) return {};
        granted = Rights::kReadExecute;
      } else if (IsWithin(hole->path, path)) {
        inside.push_back(hole);
      }
    }
    // What is listed as a directory is opened as one; all else gets the rights of a file, which the kernel
    // takes for a directory as well, should it have become one since.
    const bool listed = entry.d_type != DT_UNKNOWN;
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (entry.d_type == DT_DIR ? O_DIRECTORY : 0);
    const Fd fd(openat(dir_fd, entry.d_name, flags));
    // Gone, or something else, since it was listed.
    if (!fd.valid()) return errno == ENOENT || errno == ENOTDIR ? Result<void>() : RuleError(errno, path);
    FileType type = entry.d_type == DT_DIR ? FileType::kDirectory : FileType::kFile;
    if (!listed) {
      struct stat info {};
      if (fstat(fd.get(), &info) != 0) return RuleError(errno, path);
      if (S_ISLNK(info.st_mode)) return {};
      type = S_ISDIR(info.st_mode) ? FileType::kDirectory : FileType::kFile;
    }
    if (!inside.empty() && type == FileType::kDirectory) return AddAround(fd.get(), path, granted, inside);
    return Add(fd.get(), path, granted, type);
  }

  const Policy& policy_;
  const LandlockRights& rights_;
  const AddRule& add_;
};

}  // namespace

Result<void> ForEachLandlockRule(const Policy& policy, const LandlockRights& rights, const AddRule& add) {
  RuleMaker maker(policy, rights, add);
  for (const Grant& grant : policy.grants()) TRY(maker.AddGrant(grant));
  return {};
}

}  // namespace spty
