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

#include "confine/landlock_rules.h"
#include "confine/landlock_ruleset.h"
#include "keeper/around.h"
#include "policy/mount_aliases.h"
#include "policy/scratch.h"
#include "support/in_child.h"

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
    std::vector<char*> holes;
    for (const std::string& hole : around.holes) holes.push_back(const_cast<char*>(hole.c_str()));
    const Around rest{around.directory, around.path.c_str(), around.rights, holes.data(),
                      static_cast<uint32_t>(holes.size())};
    const Progress untold{[](void*) { return 0; }, nullptr};
    const int err = AddRulesAround(ruleset.value().fd(), rest, untold, nullptr, 0);
    return err == 0 ? Result<void>() : Error{Stage::kConfinement, err, around.path};
  };
  if (!ForEachLandlockRule(policy, rights, add, add_around).ok()) return false;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(landlock::kRestrictSelf, ruleset.value().fd(), 0) == 0;
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
    const int namespaces = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(namespaces) != 0) return kNoMounts;
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kNoMounts;
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
