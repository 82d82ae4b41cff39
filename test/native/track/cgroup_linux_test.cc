#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

#include "support/processes_linux.h"
#include "track/cgroup.h"
#include "track/cgroup_members_linux.h"
#include "track/process_ref.h"

namespace spty {
namespace {

// The real hierarchy of this machine, where there is one that we may use.
class LeafTest : public testing::Test {
 protected:
  void SetUp() override {
    auto place = CgroupPlace::Own();
    if (!place.ok()) GTEST_SKIP() << "needs a writable cgroup: " << Describe(place.error());
    own_ = place.value();
    // A cgroup of this test alone: others may run their sessions beside it.
    static int next = 0;
    const std::string path =
        own_->path() + "/spty-test-" + std::to_string(getpid()) + "-" + std::to_string(++next);
    ASSERT_EQ(mkdir(path.c_str(), 0755), 0) << path;
    place_ =
        std::make_shared<const CgroupPlace>(Fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), path);
  }
  void TearDown() override {
    for (pid_t pid : started_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    if (place_ != nullptr) {
      EXPECT_TRUE(Eventually([&] { return RemoveWithLeaves(); })) << place_->path();
    }
  }
  // A leaf in which somebody was still running when its object went is still there.
  bool RemoveWithLeaves() const {
    for (const auto& entry : std::filesystem::directory_iterator(place_->path())) {
      if (entry.is_directory()) rmdir(entry.path().c_str());
    }
    return rmdir(place_->path().c_str()) == 0;
  }
  CgroupLeaf MakeLeaf() {
    auto leaf = CgroupLeaf::Create(place_, {});
    EXPECT_TRUE(leaf.ok()) << Describe(leaf.error());
    return std::move(leaf).value();
  }
  // A process that waits in the cgroup of this descriptor.
  pid_t StartIn(int procs) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (;;) pause();
    }
    const std::string text = std::to_string(pid);
    EXPECT_EQ(pwrite(procs, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    started_.push_back(pid);
    return pid;
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(place_->path() + "/" + name); }
  // A leaf of an owner that never was: its start time lies before the machine's first process.
  std::string MakeForeign(const std::string& tag) {
    const std::string name = "sandboxed-pty-" + tag + "-1";
    EXPECT_EQ(mkdirat(place_->dir(), name.c_str(), 0755), 0);
    return name;
  }

  std::shared_ptr<const CgroupPlace> own_;
  std::shared_ptr<const CgroupPlace> place_;
  std::vector<pid_t> started_;
};

TEST_F(LeafTest, IsBornEmptyAndRemovedWithItsObject) {
  std::string name;
  {
    const CgroupLeaf leaf = MakeLeaf();
    name = leaf.name();
    EXPECT_TRUE(Exists(name));
    EXPECT_EQ(leaf.path(), place_->path() + "/" + name);
    ASSERT_TRUE(leaf.Empty().ok());
    EXPECT_TRUE(leaf.Empty().value());
    EXPECT_TRUE(leaf.Members().empty());
  }
  EXPECT_FALSE(Exists(name));
}

// As on a kernel that lacks cgroup.kill, and on one that lacks cgroup.freeze too.
TEST_F(LeafTest, KillsItsMembersOneByOne) {
  for (const bool freezes : {true, false}) {
    CgroupLeaf leaf = MakeLeaf();
    CgroupLeaf other = MakeLeaf();
    const std::vector<pid_t> members{StartIn(leaf.procs()), StartIn(leaf.procs())};
    const pid_t stranger = StartIn(other.procs());
    const Fd freeze(freezes ? openat(leaf.directory(), "cgroup.freeze", O_WRONLY | O_CLOEXEC) : -1);
    EXPECT_EQ(freeze.valid(), freezes);
    ASSERT_TRUE(KillMembers({leaf.procs(), -1, freeze.get()}, leaf.path()).ok());
    for (pid_t pid : members) EXPECT_TRUE(WaitForDeath(pid));
    EXPECT_TRUE(IsRunning(stranger));
    EXPECT_TRUE(Eventually([&] { return leaf.Empty().value(); }));
    EXPECT_TRUE(leaf.Remove().ok());
  }
}

// Frozen, it stays who it is until it is killed.
TEST_F(LeafTest, CatchesOneByOneWhoForksAndExitsAllTheTime) {
  CgroupLeaf leaf = MakeLeaf();
  const pid_t first = fork();
  if (first == 0) {
    const Fd procs(openat(leaf.directory(), "cgroup.procs", O_WRONLY | O_CLOEXEC));
    if (write(procs.get(), "0", 1) != 1) _exit(1);
    // Longer than anybody waits for its end.
    const time_t last = time(nullptr) + 60;
    while (time(nullptr) < last) {
      if (fork() > 0) _exit(0);
    }
    _exit(0);
  }
  ASSERT_TRUE(WaitForDeath(first));  // it has hopped away
  const Fd freeze(openat(leaf.directory(), "cgroup.freeze", O_WRONLY | O_CLOEXEC));
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(KillMembers({leaf.procs(), -1, freeze.get()}, leaf.path()).ok());
    return leaf.Empty().value();
  }));
  EXPECT_TRUE(leaf.Remove().ok());
}

TEST_F(LeafTest, KnowsAndKillsItsMembersAndNobodyElse) {
  CgroupLeaf leaf = MakeLeaf();
  CgroupLeaf other = MakeLeaf();
  std::vector<pid_t> members{StartIn(leaf.procs()), StartIn(leaf.procs()), StartIn(leaf.procs())};
  const pid_t stranger = StartIn(other.procs());
  auto listed = leaf.Members();
  std::sort(listed.begin(), listed.end());
  std::sort(members.begin(), members.end());
  EXPECT_EQ(listed, members);
  EXPECT_FALSE(leaf.Empty().value());
  EXPECT_FALSE(leaf.Remove().ok());
  ASSERT_TRUE(leaf.Kill().ok());
  for (pid_t pid : members) EXPECT_TRUE(WaitForDeath(pid));
  EXPECT_TRUE(IsRunning(stranger));
  EXPECT_TRUE(Eventually([&] { return leaf.Empty().value(); }));
  ASSERT_TRUE(leaf.Remove().ok());
  EXPECT_FALSE(Exists(leaf.name()));
  // The descriptors of a leaf that is gone still answer: nobody is in it.
  EXPECT_TRUE(leaf.Empty().value());
  EXPECT_TRUE(leaf.Members().empty());
}

TEST_F(LeafTest, CountsAZombieAsNobody) {
  CgroupLeaf leaf = MakeLeaf();
  const pid_t pid = StartIn(leaf.procs());
  kill(pid, SIGKILL);
  ASSERT_TRUE(WaitForDeath(pid));
  EXPECT_EQ(StateOf(pid), 'Z');
  EXPECT_TRUE(Eventually([&] { return leaf.Empty().value(); }));
  EXPECT_TRUE(leaf.Remove().ok());
}

TEST_F(LeafTest, IsNotRemovedWhileSomebodyIsInIt) {
  std::string name;
  pid_t pid = 0;
  {
    const CgroupLeaf leaf = MakeLeaf();
    name = leaf.name();
    pid = StartIn(leaf.procs());
  }
  EXPECT_TRUE(Exists(name));
  EXPECT_TRUE(IsRunning(pid));
  kill(pid, SIGKILL);
  ASSERT_TRUE(WaitForDeath(pid));
  EXPECT_TRUE(Eventually([&] { return unlinkat(place_->dir(), name.c_str(), AT_REMOVEDIR) == 0; }));
}

TEST_F(LeafTest, IsRemovedTogetherWithTheEmptyOnesInside) {
  CgroupLeaf leaf = MakeLeaf();
  for (const char* name : {"a", "a/b", "a/b/c", "d"})
    ASSERT_EQ(mkdir((leaf.path() + "/" + name).c_str(), 0755), 0);
  pid_t pid = 0;
  {
    const Fd procs(open((leaf.path() + "/a/b/c/cgroup.procs").c_str(), O_RDWR | O_CLOEXEC));
    pid = StartIn(procs.get());
  }
  EXPECT_FALSE(leaf.Empty().value()) << "whoever is further down counts";
  EXPECT_FALSE(leaf.Remove().ok());
  ASSERT_TRUE(leaf.Kill().ok());
  ASSERT_TRUE(WaitForDeath(pid));
  EXPECT_TRUE(Eventually([&] { return leaf.Empty().value(); }));
  EXPECT_TRUE(leaf.Remove().ok());
  EXPECT_FALSE(Exists(leaf.name()));
}

TEST_F(LeafTest, NeverHasTheNameOfAnother) {
  std::set<std::string> names;
  for (int i = 0; i < 50; ++i) names.insert(MakeLeaf().name());
  EXPECT_EQ(names.size(), 50u);
  for (const std::string& name : names) {
    EXPECT_TRUE(name.starts_with("sandboxed-pty-" + OwnerTag() + "-")) << name;
    EXPECT_FALSE(Exists(name));
  }
}

TEST_F(LeafTest, APlaceKnowsWhetherItIsStillThere) {
  CgroupLeaf leaf = MakeLeaf();
  const CgroupPlace place(Fd(open(leaf.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), leaf.path());
  EXPECT_TRUE(place.Exists());
  ASSERT_TRUE(leaf.Remove().ok());
  EXPECT_FALSE(place.Exists());
}

TEST_F(LeafTest, WithoutCgroupKillMembersAreKilledAllTheSame) {
  auto leaf = CgroupLeaf::Create(place_, {}, CgroupLeaf::NewName(), false);
  ASSERT_TRUE(leaf.ok()) << Describe(leaf.error());
  EXPECT_EQ(leaf.value().kill(), -1);
  const pid_t pid = StartIn(leaf.value().procs());
  ASSERT_TRUE(leaf.value().Kill().ok());
  EXPECT_TRUE(WaitForDeath(pid));
  EXPECT_TRUE(Eventually([&] { return leaf.value().Empty().value(); }));
}

TEST_F(LeafTest, LimitsThatNobodyEnforcesAreRefused) {
  CgroupLimits limits;
  limits.processes = 10;
  const auto leaf = CgroupLeaf::Create(own_, limits);
  if (leaf.ok()) {
    std::string text;
    std::getline(std::ifstream(leaf.value().path() + "/pids.max"), text);
    EXPECT_EQ(text, "10");
  } else {
    EXPECT_EQ(leaf.error().err, ENOTSUP);
  }
}

TEST_F(LeafTest, SweepEndsAndRemovesWhatTheDeadLeft) {
  const std::string empty = MakeForeign(std::to_string(getpid()) + "-1-" + OwnerPlace());
  const std::string populated = MakeForeign(std::to_string(getppid()) + "-1-" + OwnerPlace());
  pid_t pid = 0;
  {
    const Fd procs(openat(place_->dir(), (populated + "/cgroup.procs").c_str(), O_RDWR | O_CLOEXEC));
    pid = StartIn(procs.get());
  }
  EXPECT_EQ(place_->Sweep(), 2u);
  EXPECT_FALSE(Exists(empty));
  EXPECT_FALSE(Exists(populated));
  EXPECT_TRUE(WaitForDeath(pid));
}

TEST_F(LeafTest, SweepTouchesNothingOfTheLivingNorOfOthers) {
  CgroupLeaf own = MakeLeaf();
  const pid_t member = StartIn(own.procs());
  const std::string parents = MakeForeign(OwnerTag(getppid()));
  const std::string elsewhere = MakeForeign(std::to_string(getppid()) + "-1-00000000");
  const std::string unreadable = MakeForeign("somebody");
  const std::string others = "not-sandboxed-pty-1-1";
  ASSERT_EQ(mkdirat(place_->dir(), others.c_str(), 0755), 0);
  EXPECT_EQ(place_->Sweep(), 0u);
  EXPECT_TRUE(IsRunning(member));
  for (const std::string& name : {own.name(), parents, elsewhere, unreadable, others})
    EXPECT_TRUE(Exists(name)) << name;
  for (const std::string& name : {parents, elsewhere, unreadable, others})
    EXPECT_EQ(unlinkat(place_->dir(), name.c_str(), AT_REMOVEDIR), 0);
  EXPECT_TRUE(own.Kill().ok());
  EXPECT_TRUE(WaitForDeath(member));
}

}  // namespace
}  // namespace spty
