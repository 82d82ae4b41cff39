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
#include "support/temp_dir.h"
#include "track/cgroup.h"
#include "track/cgroup_members_linux.h"
#include "track/process_ref.h"

namespace spty {
namespace {

// Plain directories stand in for the hierarchy: Find looks at nothing but names and rights.
class FindTest : public testing::Test {
 protected:
  std::string Cgroup(const std::string& name) {
    std::filesystem::create_directories(dir_.File(name));
    dir_.Write(name + "/cgroup.procs", "");
    return dir_.File(name);
  }
  // One line of mountinfo.
  static std::string Mount(const std::string& root, const std::string& point) {
    return "41 31 0:38 " + root + " " + point + " rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  }
  static std::string Found(const std::string& mountinfo, const std::string& own) {
    const auto place = CgroupPlace::Find(mountinfo, own);
    return place.ok() ? place.value()->path() : ErrnoName(place.error().err);
  }
  std::string Escaped(std::string path) {
    for (size_t at = 0; (at = path.find(' ', at)) != std::string::npos;) path.replace(at, 1, "\\040");
    return path;
  }

  TempDir dir_;
};

TEST_F(FindTest, TakesOurOwnCgroupOfAUnifiedHierarchy) {
  const std::string top = Cgroup("fs");
  const std::string own = Cgroup("fs/user.slice/app");
  EXPECT_EQ(Found(Mount("/", top), "0::/user.slice/app\n"), own);
  EXPECT_TRUE(std::filesystem::is_empty(own) == false);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(own), {}), 1) << "the trial leaf is gone again";
}

TEST_F(FindTest, PassesOverTheOldHierarchiesOfAHybridOne) {
  const std::string unified = Cgroup("unified");
  const std::string mounts =
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" + Mount("/", unified);
  const std::string own = "9:name=systemd:/a\n4:memory:/b/c\n1:cpu:/\n0::/\n";
  EXPECT_EQ(Found(mounts, own), unified);
}

TEST_F(FindTest, GoesUpToTheNearestThatCanBeUsed) {
  const std::string slice = Cgroup("fs/slice");
  // Its cgroup.procs is not there: as good as not writable, also for root.
  std::filesystem::create_directories(dir_.File("fs/slice/one/two"));
  EXPECT_EQ(Found(Mount("/", dir_.File("fs")), "0::/slice/one/two\n"), slice);
}

TEST_F(FindTest, LooksAtEveryMount) {
  const std::string second = Cgroup("second");
  EXPECT_EQ(Found(Mount("/", dir_.File("nowhere")) + Mount("/", second), "0::/\n"), second);
}

TEST_F(FindTest, SeesTheRootOfAContainer) {
  const std::string top = Cgroup("fs");
  const std::string below = Cgroup("fs/inner");
  EXPECT_EQ(Found(Mount("/docker/1234", top), "0::/docker/1234/inner\n"), below);
  EXPECT_EQ(Found(Mount("/docker/1234", top), "0::/docker/1234\n"), top);
  // In a cgroup namespace both are "/".
  EXPECT_EQ(Found(Mount("/", top), "0::/\n"), top);
}

TEST_F(FindTest, DoesNotCutASiblingWhoseNameBeginsAlike) {
  const std::string top = Cgroup("fs");
  Cgroup("fs4");
  EXPECT_EQ(Found(Mount("/docker/123", top), "0::/docker/1234\n"), top);
}

TEST_F(FindTest, ReadsEscapes) {
  const std::string top = Cgroup("with space");
  EXPECT_EQ(Found(Mount("/", Escaped(top)), "0::/\n"), top);
}

TEST_F(FindTest, SaysWhyThereIsNone) {
  const std::string top = Cgroup("fs");
  EXPECT_EQ(Found("", "0::/\n"), "ENOENT");
  EXPECT_EQ(Found("32 31 0:29 / " + top + " rw - cgroup cgroup rw,cpu\n", "0::/\n"), "ENOENT");
  EXPECT_EQ(Found(Mount("/", top), "9:name=systemd:/\n1:cpu:/\n"), "ENOENT");
  EXPECT_EQ(Found(Mount("/", top), ""), "ENOENT");
  EXPECT_EQ(Found(Mount("/", dir_.File("nowhere")), "0::/\n"), "ENOENT");
  EXPECT_EQ(Found("nonsense\n\n - cgroup2 \n", "0::/\n"), "ENOENT");
}

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

// Plain files stand in for those of the controllers, which few machines delegate.
class ApplyLimitsTest : public testing::Test {
 protected:
  void Make(const std::vector<std::string>& names) {
    for (const std::string& name : names) dir_.Write(name, "");
  }
  std::string Applied(const CgroupLimits& limits) {
    const Fd dir(open(dir_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto applied = ApplyLimits(dir.get(), dir_.path(), limits);
    return applied.ok() ? "" : ErrnoName(applied.error().err) + " " + applied.error().subject;
  }
  std::string Text(const std::string& name) {
    std::ifstream file(dir_.File(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempDir dir_;
};

TEST_F(ApplyLimitsTest, WritesWhatTheKernelReads) {
  Make({"pids.max", "memory.max", "memory.swap.max", "memory.oom.group", "cpu.max"});
  EXPECT_EQ(Applied({64, 50'000'000, 150}), "");
  EXPECT_EQ(Text("pids.max"), "64");
  EXPECT_EQ(Text("memory.max"), "50000000");
  EXPECT_EQ(Text("memory.swap.max"), "0");
  EXPECT_EQ(Text("memory.oom.group"), "1");
  EXPECT_EQ(Text("cpu.max"), "150000 100000");
}

TEST_F(ApplyLimitsTest, CountsProcessorTimeInPartsOfATenthOfASecond) {
  const std::pair<double, const char*> cases[] = {
      {100, "100000 100000"},
      {50, "50000 100000"},
      {12.5, "12500 100000"},
      {400, "400000 100000"},
      // The kernel takes no less than a millisecond.
      {0.01, "1000 100000"},
  };
  for (const auto& [percent, text] : cases) {
    Make({"cpu.max"});
    EXPECT_EQ(Applied({std::nullopt, std::nullopt, percent}), "");
    EXPECT_EQ(Text("cpu.max"), text) << percent;
  }
}

TEST_F(ApplyLimitsTest, TouchesNothingThatNobodyAskedFor) {
  Make({"pids.max", "memory.max", "memory.swap.max", "memory.oom.group", "cpu.max"});
  EXPECT_EQ(Applied({}), "");
  EXPECT_EQ(Applied({std::nullopt, std::nullopt, 100}), "");
  for (const char* name : {"pids.max", "memory.max", "memory.swap.max", "memory.oom.group"})
    EXPECT_EQ(Text(name), "") << name;
}

TEST_F(ApplyLimitsTest, NamesTheFileWhoseControllerIsMissing) {
  for (const auto& [limits, file] : {std::pair<CgroupLimits, const char*>{{64, {}, {}}, "pids.max"},
                                     {{{}, 1 << 30, {}}, "memory.max"},
                                     {{{}, {}, 50}, "cpu.max"}}) {
    const std::string refusal = Applied(limits);
    EXPECT_TRUE(refusal.starts_with("ENOTSUP " + dir_.File(file))) << refusal;
    EXPECT_FALSE(std::filesystem::exists(dir_.File(file)));
  }
  // Swap and the group kill are not everywhere; the limit itself is.
  Make({"memory.max"});
  EXPECT_EQ(Applied({{}, 1000, {}}), "");
  EXPECT_EQ(Text("memory.max"), "1000");
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
