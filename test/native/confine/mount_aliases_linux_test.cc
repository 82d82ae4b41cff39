// Holes where the same files are mounted a second time, in the kernel.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <ostream>

#include "confine/landlock_rules.h"
#include "confine/landlock_ruleset.h"
#include "keeper/around.h"
#include "keeper/plan_view.h"
#include "policy/mount_aliases.h"
#include "policy/scratch.h"
#include "support/in_child.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

constexpr unsigned kVersion = 1;

bool CanRead(const std::string& path) { return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)).valid(); }

bool CanWrite(const std::string& path) { return Fd(open(path.c_str(), O_WRONLY | O_CLOEXEC)).valid(); }

// Enters a domain of the policy's rules; false if that fails.
bool Enter(const Policy& policy, long abi) {
  const LandlockRights rights(static_cast<int>(abi));
  landlock::RulesetAttr attr;
  attr.handled_fs = rights.handled_fs;
  auto ruleset = LandlockRuleset::Create(attr);
  if (!ruleset.ok()) return false;
  const auto add = [&](int fd, uint64_t allowed) { return ruleset.value().Allow(fd, allowed); };
  const auto add_around = [&](const RulesAround& around) -> Result<void> {
    std::string frame = EncodeAround(around).value();
    std::vector<ProtectedPlace> holes(around.holes.size());
    Around rest;
    if (DecodeAround(frame.data(), frame.size(), holes.data(), holes.size(), &rest) != 0) abort();
    rest.directory = around.directory;
    const auto nothing = [](void*) { return 0; };
    const int err = AddRulesAround(ruleset.value().fd(), &rest, {nothing, nothing, nullptr}, nullptr, 0);
    return err == 0 ? Result<void>() : Error{Stage::kConfinement, err, around.path};
  };
  if (!ForEachLandlockRule(policy, rights, add, add_around).ok()) return false;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(landlock::kRestrictSelf, ruleset.value().fd(), 0) == 0;
}

bool Write(const char* file, const std::string& text) {
  const Fd fd(open(file, O_WRONLY | O_CLOEXEC));
  return fd.valid() && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Mounts of this process's own. Without privileges that takes a user namespace, in which there must be its
// user and group: no others can have files in a file system that is mounted there.
bool MayMount() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  const auto itself = [](unsigned id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  if (unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
  if (user != 0 && !(Write("/proc/self/uid_map", itself(user)) && Write("/proc/self/setgroups", "deny") &&
                     Write("/proc/self/gid_map", itself(group))))
    return false;
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST(MountAliasesInTheKernel, ASecondMountShowsNoCredentials) {
  const long abi = syscall(landlock::kCreateRuleset, nullptr, 0, kVersion);
  if (abi < 1) GTEST_SKIP() << "needs Landlock";
  Scratch scratch;
  scratch.File("home/me/.ssh/id", "key");
  scratch.File("home/me/other", "harmless");
  const std::string again = scratch.Dir("again");
  constexpr char kNoMounts[] = "no mounts";
  const std::string complaint = InChild([&]() -> std::string {
    if (!MayMount()) return kNoMounts;
    if (mount(scratch.home().c_str(), again.c_str(), nullptr, MS_BIND, nullptr) != 0) return kNoMounts;
    PolicyInput input = scratch.Input(R"({"enabled": true, "profile": "agent", "git_access": "full"})");
    const auto policy = ResolvePolicy(std::move(input));
    CHILD_CHECK(policy.ok());
    CHILD_CHECK(!policy.value()->Decide(again + "/.ssh/id", Rights::kRead).allowed);
    CHILD_CHECK(policy.value()->Decide(again + "/other", Rights::kRead).allowed);
    CHILD_CHECK(CanRead(again + "/.ssh/id"));
    CHILD_CHECK(Enter(*policy.value(), abi));
    CHILD_CHECK(!CanRead(scratch.Home(".ssh/id")));
    CHILD_CHECK(!CanRead(again + "/.ssh/id"));
    CHILD_CHECK(CanRead(again + "/other"));
    CHILD_CHECK(CanRead(scratch.Home("other")));
    return "";
  });
  if (complaint.find(kNoMounts) != std::string::npos) GTEST_SKIP() << "needs user namespaces";
  EXPECT_EQ(complaint, "");
}

// What is denied can be read under each of the names, but for the denial.
struct Layout {
  const char* name;
  std::function<bool(const Scratch&)> mount;
  const char* denied;
  std::vector<std::string> names;
  std::vector<std::string> others;  // can always be read
  const char* granted = nullptr;    // all that is; null: everything
};

bool Bind(const Scratch& scratch, const char* what, const char* place) {
  return mount(scratch.Path(what).c_str(), scratch.Dir(place).c_str(), nullptr, MS_BIND, nullptr) == 0;
}

bool MountTmpfs(const Scratch& scratch, const char* place) {
  return mount("none", scratch.Dir(place).c_str(), "tmpfs", 0, nullptr) == 0;
}

void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

class MountAliasesInTheKernelOf : public ::testing::TestWithParam<Layout> {
 protected:
  // What the table says is what the kernel says.
  static bool IsFound(const std::vector<MountPoint>& mounts, const std::string& path) {
    uapi::Statx info{};
    if (syscall(SYS_statx, AT_FDCWD, path.c_str(), 0, uapi::kStatxMountId, &info) == -1) return false;
    const auto through = MountTable(mounts).Through(path);
    return !through.empty() && through.back()->id == info.mount;
  }

  static std::string Try(const Layout& layout, bool denied, long abi) {
    const Scratch scratch;
    return InChild([&]() -> std::string {
      if (!MayMount()) return kNoMounts;
      CHILD_CHECK(layout.mount(scratch));
      const auto mounts = ReadMounts();
      CHILD_CHECK(mounts.ok());
      for (const std::string& name : layout.names) CHILD_CHECK(IsFound(mounts.value(), scratch.Path(name)));
      const std::string list = denied ? '"' + scratch.Path(layout.denied) + '"' : "";
      const std::string grants = layout.granted == nullptr
                                     ? R"("profile": "agent", "git_access": "full")"
                                     : R"("profile": "workspace", "additional_read_only_paths": [")" +
                                           scratch.Path(layout.granted) + R"("])";
      const auto policy = ResolvePolicy(
          scratch.Input(R"({"enabled": true, )" + grants + R"(, "denied_read_paths": [)" + list + "]}"));
      CHILD_CHECK(policy.ok());
      CHILD_CHECK(Enter(*policy.value(), abi));
      for (const std::string& name : layout.names) {
        if (CanRead(scratch.Path(name)) == denied)
          return name + (denied ? " can be read" : " cannot be read");
      }
      for (const std::string& other : layout.others) {
        if (!CanRead(scratch.Path(other))) return other + " cannot be read";
      }
      return "";
    });
  }

  static constexpr char kNoMounts[] = "no mounts";
};

TEST_P(MountAliasesInTheKernelOf, AreClosedLikeTheDeniedName) {
  const long abi = syscall(landlock::kCreateRuleset, nullptr, 0, kVersion);
  if (abi < 1) GTEST_SKIP() << "needs Landlock";
  for (const bool denied : {false, true}) {
    const std::string complaint = Try(GetParam(), denied, abi);
    if (complaint.find(kNoMounts) != std::string::npos) GTEST_SKIP() << "needs user namespaces";
    EXPECT_EQ(complaint, "");
  }
}

const Layout kLayouts[] = {
    {"AHiddenMount",
     [](const Scratch& scratch) {
       scratch.File("source/b/key");
       scratch.File("source/other");
       return MountTmpfs(scratch, "m/a/b") && Bind(scratch, "source", "m/a");
     },
     "m/a/b/key",
     {"m/a/b/key", "source/b/key"},
     {"m/a/other", "source/other"}},
    {"OneUponAnother",
     [](const Scratch& scratch) {
       scratch.File("one/key");
       scratch.File("two/key");
       scratch.File("two/other");
       return Bind(scratch, "one", "m") && Bind(scratch, "two", "m");
     },
     "m/key",
     {"m/key", "two/key"},
     {"one/key", "m/other", "two/other"}},
    {"ADirectoryAboveTheMount",
     [](const Scratch& scratch) {
       scratch.File("directory/other");
       if (!MountTmpfs(scratch, "directory/in/mount") || !Bind(scratch, "directory", "second")) return false;
       scratch.File("directory/in/mount/key");
       return true;
     },
     "directory/in/mount/key",
     {"directory/in/mount/key"},
     {"directory/other", "second/other"}},
    {"SubvolumesAndTheirWhole",
     [](const Scratch& scratch) {
       if (!MountTmpfs(scratch, "whole")) return false;
       scratch.File("whole/@/other");
       scratch.File("whole/@home/key");
       return Bind(scratch, "whole/@", "root") && Bind(scratch, "whole/@home", "root/home");
     },
     "root/home/key",
     {"root/home/key", "whole/@home/key"},
     {"root/other", "whole/@/other"}},
    {"AMountInside",
     [](const Scratch& scratch) {
       scratch.File("vault/key");
       scratch.File("other");
       return Bind(scratch, "vault", "closed/keys");
     },
     "closed",
     {"closed/keys/key", "vault/key"},
     {"other"}},
    {"WhatWasReplaced",
     [](const Scratch& scratch) {
       const std::string key = scratch.File("closed/key");
       const std::string second = scratch.File("second");
       return mount(key.c_str(), second.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
              rename(scratch.File("closed/new").c_str(), key.c_str()) == 0 &&
              Bind(scratch, "closed", "again");
     },
     "closed/key",
     {"closed/key", "second", "again/key"},
     {}},
    {"TheGrantIsMountedInADirectoryAboveTheDeniedName",
     [](const Scratch& scratch) {
       scratch.File("top/secret/key");
       scratch.File("top/mnt/other");
       scratch.File("top/other");
       return Bind(scratch, "top", "top/mnt/copy");
     },
     "top/secret/key",
     {"top/secret/key", "top/mnt/copy/secret/key"},
     {"top/mnt/copy/other"},
     "top/mnt/copy"},
    {"ASecondNameOfWhatHoldsASecondName",
     [](const Scratch& scratch) {
       scratch.File("home2/key");
       scratch.File("srv/other");
       return Bind(scratch, "home2", "srv/b2") && Bind(scratch, "srv", "srv2");
     },
     "home2/key",
     {"srv/b2/key"},
     {"srv2/other"},
     "srv2"}};

INSTANTIATE_TEST_SUITE_P(Names, MountAliasesInTheKernelOf, ::testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param.name); });

// Root needs no capability to read there what the kernel, and so everybody, is doing. Tools mount it when
// they need it, which may be after the session has started.
TEST(MountsInTheKernel, WhatOnlyRootMayReadInSysIsClosedToASessionOfRoot) {
  const long abi = syscall(landlock::kCreateRuleset, nullptr, 0, kVersion);
  if (abi < 1) GTEST_SKIP() << "needs Landlock";
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Scratch scratch;
  constexpr char kNoTracing[] = "no tracing";
  constexpr char kPlace[] = "/sys/kernel/tracing";
  const std::string secret = std::string(kPlace) + "/trace";
  for (const bool mounted_before : {false, true}) {
    for (const bool granted : {false, true}) {
      SCOPED_TRACE(std::string(mounted_before ? "mounted before" : "mounted later") +
                   (granted ? ", granted" : ""));
      const std::string complaint = InChild([&]() -> std::string {
        const auto mount_it = [&] { return mount("tracefs", kPlace, "tracefs", 0, nullptr) == 0; };
        if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
          return kNoTracing;
        while (umount2(kPlace, MNT_DETACH) == 0) {
        }
        if (!mount_it()) return kNoTracing;
        CHILD_CHECK(CanRead(secret));
        if (!mounted_before) CHILD_CHECK(umount(kPlace) == 0);
        PolicyInput input =
            scratch.Input(R"({"enabled": true, "profile": "workspace", "additional_read_only_paths": [)" +
                          std::string(granted ? R"("/sys/kernel/tracing")" : "") + "]}");
        input.is_root = true;
        const auto policy = ResolvePolicy(std::move(input));
        CHILD_CHECK(policy.ok());
        CHILD_CHECK(policy.value()->Decide(secret, Rights::kRead).allowed == granted);
        if (mounted_before) {
          CHILD_CHECK(Enter(*policy.value(), abi));
        } else {
          // Nothing can be mounted from inside.
          int ends[2];
          CHILD_CHECK(pipe(ends) == 0);
          const pid_t outside = fork();
          CHILD_CHECK(outside != -1);
          if (outside == 0) {
            char byte = 0;
            _exit(read(ends[0], &byte, 1) == 1 && mount_it() ? 0 : 1);
          }
          CHILD_CHECK(Enter(*policy.value(), abi));
          CHILD_CHECK(write(ends[1], "", 1) == 1);
          int status = -1;
          CHILD_CHECK(waitpid(outside, &status, 0) == outside && status == 0);
        }
        // What is mounted over a granted directory later is not what was granted.
        CHILD_CHECK(CanRead(secret) == (granted && mounted_before));
        CHILD_CHECK(CanRead("/sys/devices/system/cpu/online"));
        return "";
      });
      if (complaint.find(kNoTracing) != std::string::npos) GTEST_SKIP() << "needs tracefs";
      EXPECT_EQ(complaint, "");
    }
  }
}

// In a root file system that is being built in the project, say.
TEST(MountsInTheKernel, AKernelInterfaceInTheProjectIsNotWritable) {
  const long abi = syscall(landlock::kCreateRuleset, nullptr, 0, kVersion);
  if (abi < 1) GTEST_SKIP() << "needs Landlock";
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Scratch scratch;
  const std::string proc = scratch.Dir("home/me/project/rootfs/proc");
  scratch.File("home/me/project/rootfs/etc/file");
  scratch.File("home/me/project/file");
  const std::string complaint = InChild([&]() -> std::string {
    CHILD_CHECK(unshare(CLONE_NEWNS) == 0);
    CHILD_CHECK(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
    CHILD_CHECK(mount("proc", proc.c_str(), "proc", 0, nullptr) == 0);
    const std::string control = proc + "/self/oom_score_adj";
    const auto policy = ResolvePolicy(scratch.Input(R"({"enabled": true, "profile": "workspace"})"));
    CHILD_CHECK(policy.ok());
    CHILD_CHECK(!policy.value()->Decide(control, Rights::kReadWrite).allowed);
    CHILD_CHECK(CanWrite(control));
    CHILD_CHECK(Enter(*policy.value(), abi));
    CHILD_CHECK(!CanWrite(control));
    CHILD_CHECK(CanRead(control));
    CHILD_CHECK(CanWrite(scratch.Project("file")));
    CHILD_CHECK(CanWrite(scratch.Project("rootfs/etc/file")));
    return "";
  });
  EXPECT_EQ(complaint, "");
}

}  // namespace
}  // namespace spty
