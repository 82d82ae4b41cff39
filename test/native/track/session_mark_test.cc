#include "track/session_mark.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>

#include "base/fd.h"
#include "support/keeper_host.h"
#include "support/processes.h"
#include "support/temp_dir.h"
#include "support/terminal.h"
#include "track/process_ref.h"

namespace spty {
namespace {

namespace fs = std::filesystem;

constexpr char kUuid[] = "11111111-2222-4333-8444-555555555555";

TEST(SessionMarkTest, IsANameThatNobodyElseHasAndSaysWhoseItIs) {
  const std::regex form("/place/\\.sandboxed-pty-" + OwnerTag() +
                        "-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto mark = NewSessionMark("/place");
    ASSERT_TRUE(mark.ok());
    EXPECT_TRUE(std::regex_match(mark.value(), form)) << mark.value();
    EXPECT_TRUE(seen.insert(mark.value()).second);
  }
}

// Of a process that was there, and is not any more.
std::string DeadTag() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  // A zombie keeps its number and its time.
  const std::string tag = OwnerTag(pid);
  EXPECT_TRUE(OwnerLives(tag));
  waitpid(pid, nullptr, 0);
  EXPECT_FALSE(OwnerLives(tag));
  return tag;
}

class SweepMarksTest : public testing::Test {
 protected:
  std::string Name(const std::string& tag) const {
    return place_.File(".sandboxed-pty-" + tag + "-" + kUuid);
  }
  // As the keeper makes it.
  std::string Make(const std::string& tag) const {
    fs::create_directories(Name(tag) + "/allow");
    return Name(tag);
  }
  // Who was asked about, and what was removed.
  size_t Sweep(bool nobody_left = true) {
    asked_.clear();
    return SweepMarks(place_.path(), [&](const std::string& mark) {
      asked_.insert(mark);
      return nobody_left;
    });
  }
  void ExpectKept(const std::string& mark) {
    EXPECT_EQ(Sweep(), 0U);
    EXPECT_TRUE(fs::exists(fs::symlink_status(mark))) << mark;
  }

  const TempDir place_;
  const std::string dead_ = DeadTag();
  std::set<std::string> asked_;
};

TEST_F(SweepMarksTest, RemovesWhatTheDeadHaveLeft) {
  const std::string whole = Make(dead_);
  const std::string half = Name(DeadTag());
  fs::create_directory(half);  // a keeper that died before it had made "allow"
  const std::string live = Make(OwnerTag());
  EXPECT_EQ(Sweep(), 2U);
  EXPECT_FALSE(fs::exists(whole));
  EXPECT_FALSE(fs::exists(half));
  EXPECT_TRUE(fs::exists(live + "/allow"));
  EXPECT_EQ(asked_, (std::set<std::string>{whole, half}));
}

TEST_F(SweepMarksTest, KeepsWhatMayBeInUse) {
  for (const std::string& tag :
       {OwnerTag(), std::to_string(getppid()) + "-0-" + OwnerPlace(), std::string("x"), std::string("1")}) {
    ExpectKept(Make(tag));
    EXPECT_TRUE(asked_.empty()) << "nobody of that session is touched: " << tag;
  }
  // A name without an owner, and one without anything.
  for (const char* name :
       {".sandboxed-pty-11111111-2222-4333-8444-555555555555", ".sandboxed-pty-", ".sandboxed-pty"}) {
    fs::create_directory(place_.File(name));
    ExpectKept(place_.File(name));
  }
}

TEST_F(SweepMarksTest, KeepsTheMarkOfAKeeperThatIsStillAtWork) {
  const std::string mark = Make(dead_);
  Fd keeper(open(mark.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(keeper.get(), LOCK_EX | LOCK_NB), 0);
  ExpectKept(mark);
  EXPECT_TRUE(asked_.empty());
  keeper.Reset();
  EXPECT_EQ(Sweep(), 1U);
}

TEST_F(SweepMarksTest, KeepsTheMarkOfThoseWhoCouldNotBeEnded) {
  const std::string mark = Make(dead_);
  EXPECT_EQ(Sweep(false), 0U);
  EXPECT_TRUE(fs::exists(mark + "/allow"));
  EXPECT_EQ(asked_, std::set<std::string>{mark});
  EXPECT_EQ(Sweep(true), 1U);
}

TEST_F(SweepMarksTest, KeepsWhatIsNoMark) {
  const std::string mark = Make(dead_);
  place_.Write(fs::path(mark).filename().string() + "/more", "");
  ExpectKept(mark);
  EXPECT_TRUE(fs::exists(mark + "/allow"));
  fs::remove_all(mark);
  place_.Write(fs::path(mark).filename().string(), "a file");
  ExpectKept(mark);
  fs::remove(mark);
  fs::create_directories(place_.File("elsewhere/allow"));
  fs::create_directory_symlink(place_.File("elsewhere"), mark);
  ExpectKept(mark);
  EXPECT_TRUE(fs::exists(place_.File("elsewhere/allow")));
}

TEST_F(SweepMarksTest, KeepsWhatIsAnotherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string mark = Make(dead_);
  ASSERT_EQ(chown(mark.c_str(), 4242, 4242), 0);
  ExpectKept(mark);
  ASSERT_EQ(chown(mark.c_str(), geteuid(), getegid()), 0);
  EXPECT_EQ(Sweep(), 1U);
}

TEST_F(SweepMarksTest, FindsNothingWhereThereIsNothing) {
  EXPECT_EQ(Sweep(), 0U);
  EXPECT_EQ(SweepMarks(place_.File("missing"), [](const std::string&) { return true; }), 0U);
}

TEST_F(SweepMarksTest, ARealKeeperHoldsItsMarkUntilItIsKilled) {
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("echo ready; read line");
  plan.mark = Name(dead_);
  const pid_t shell = host.Start(plan, terminal.slave());
  terminal.ReadUntil("ready\n");
  ExpectKept(plan.mark);
  ASSERT_EQ(kill(host.pid(), SIGKILL), 0);
  host.Wait();
  EXPECT_TRUE(IsRunning(shell)) << "it does not hold the lock";
  EXPECT_EQ(Sweep(), 1U);
  EXPECT_FALSE(fs::exists(plan.mark));
  terminal.CloseSlave();
  terminal.CloseMaster();
  EXPECT_TRUE(WaitForDeath(shell));
}

}  // namespace
}  // namespace spty
