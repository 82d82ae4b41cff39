#include "pty/poller.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "support/descriptors.h"
#include "support/in_child.h"
#include "support/terminal.h"

namespace spty {
namespace {

Poller Create() {
  auto poller = Poller::Create();
  EXPECT_TRUE(poller.ok());
  return std::move(poller).value();
}

std::multiset<uint64_t> WaitOnce(Poller& poller, std::optional<Clock::time_point> deadline) {
  auto events = poller.Wait(deadline);
  EXPECT_TRUE(events.ok());
  std::multiset<uint64_t> tokens;
  for (const Poller::Event& event : events.value()) tokens.insert(event.token);
  return tokens;
}

std::multiset<uint64_t> Now(Poller& poller) { return WaitOnce(poller, Clock::time_point::min()); }

TEST(Poller, ReportsWhatHappenedUnderItsToken) {
  Poller poller = Create();
  TestTerminal first;
  TestTerminal second;
  ASSERT_TRUE(poller.Add(first.master(), 11).ok());
  ASSERT_TRUE(poller.Add(second.master(), 22).ok());
  EXPECT_EQ(Now(poller), std::multiset<uint64_t>{}) << "both are writable, and nobody asked";
  ASSERT_EQ(write(second.slave(), "x", 1), 1);
  EXPECT_EQ(WaitOnce(poller, std::nullopt), std::multiset<uint64_t>{22});
}

TEST(Poller, ReportsAnEdgeOnce) {
  Poller poller = Create();
  TestTerminal terminal;
  ASSERT_TRUE(poller.Add(terminal.master(), 1).ok());
  ASSERT_EQ(write(terminal.slave(), "x", 1), 1);
  EXPECT_EQ(WaitOnce(poller, std::nullopt).size(), 1U);
  EXPECT_EQ(Now(poller).size(), 0U) << "unread, but nothing new";
  ASSERT_EQ(write(terminal.slave(), "y", 1), 1);
  EXPECT_EQ(WaitOnce(poller, std::nullopt).size(), 1U);
}

TEST(Poller, ReportsWritabilityWhileItIsAskedFor) {
  Poller poller = Create();
  TestTerminal terminal;
  terminal.MakeRaw();
  ASSERT_TRUE(poller.Add(terminal.master(), 1).ok());
  auto child_reads_a_key = [&] {
    char key = 'k';
    ASSERT_EQ(write(terminal.master(), &key, 1), 1);
    ASSERT_EQ(read(terminal.slave(), &key, 1), 1);
  };
  child_reads_a_key();
  EXPECT_EQ(Now(poller).size(), 0U);
  poller.WatchWrites(terminal.master(), 1, true);
  EXPECT_EQ(Now(poller), std::multiset<uint64_t>{1}) << "it was writable before";
  EXPECT_EQ(Now(poller).size(), 0U);
  child_reads_a_key();
  EXPECT_EQ(WaitOnce(poller, std::nullopt), std::multiset<uint64_t>{1});
  poller.WatchWrites(terminal.master(), 1, false);
  child_reads_a_key();
  EXPECT_EQ(Now(poller).size(), 0U);
}

TEST(Poller, ReportsAHangUpOnceAndNotForEver) {
  Poller poller = Create();
  TestTerminal terminal;
  ASSERT_TRUE(poller.Add(terminal.master(), 1).ok());
  terminal.CloseSlave();
  EXPECT_EQ(WaitOnce(poller, std::nullopt).size(), 1U);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Now(poller).size(), 0U);
}

TEST(Poller, ReportsNothingMoreAfterRemove) {
  Poller poller = Create();
  TestTerminal terminal;
  ASSERT_TRUE(poller.Add(terminal.master(), 1).ok());
  poller.Remove(terminal.master());
  ASSERT_EQ(write(terminal.slave(), "x", 1), 1);
  EXPECT_EQ(Now(poller).size(), 0U);
  ASSERT_TRUE(poller.Add(terminal.master(), 2).ok());
  EXPECT_EQ(Now(poller), std::multiset<uint64_t>{2});
}

TEST(Poller, RefusesWhatCannotBeWatched) {
  Poller poller = Create();
  auto bad = poller.Add(-1, 1);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().stage, Stage::kPump);
  EXPECT_EQ(bad.error().err, EBADF);
  TestTerminal terminal;
  EXPECT_TRUE(poller.Add(terminal.master(), 1).ok());
  EXPECT_EQ(poller.Add(terminal.master(), 2).error().err, EEXIST);
}

TEST(Poller, NeverComesBackBeforeItsDeadlineEvenBelowAMillisecond) {
  Poller poller = Create();
  for (int microseconds : {1, 50, 300, 700, 999, 1500, 4000}) {
    Clock::time_point deadline = Clock::now() + std::chrono::microseconds(microseconds);
    // One wait and not many: who comes back early would have to come back busily.
    EXPECT_EQ(WaitOnce(poller, deadline).size(), 0U);
    EXPECT_GE(Clock::now(), deadline) << microseconds;
  }
}

TEST(Poller, DoesNotWaitForADeadlineThatHasPassed) {
  Poller poller = Create();
  EXPECT_EQ(WaitOnce(poller, Clock::now() - std::chrono::hours(1)).size(), 0U);
}

TEST(Poller, IsWokenByAnotherThreadAndSaysNothingOfIt) {
  Poller poller = Create();
  std::thread other([&] { poller.Wake(); });
  EXPECT_EQ(WaitOnce(poller, std::nullopt).size(), 0U);
  other.join();
}

TEST(Poller, RemembersAWakeThatCameBeforeTheWait) {
  Poller poller = Create();
  poller.Wake();
  poller.Wake();
  EXPECT_EQ(WaitOnce(poller, std::nullopt).size(), 0U);
  // Once is enough for both.
  Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(2);
  WaitOnce(poller, deadline);
  EXPECT_GE(Clock::now(), deadline);
  poller.Wake();
  EXPECT_EQ(WaitOnce(poller, std::nullopt).size(), 0U) << "each one counts again";
}

TEST(Poller, IsWokenWhenItsTimeIsOver) {
  Poller poller = Create();
  const Clock::time_point start = Clock::now();
  poller.WakeIn(std::chrono::milliseconds(2));
  EXPECT_EQ(WaitOnce(poller, std::nullopt).size(), 0U);
  EXPECT_GE(Clock::now(), start + std::chrono::milliseconds(2));
  poller.WakeIn(Clock::duration::zero());
  EXPECT_EQ(WaitOnce(poller, std::nullopt).size(), 0U);
  // Taken back, and put off.
  poller.WakeIn(std::chrono::milliseconds(1));
  poller.WakeIn(std::nullopt);
  poller.WakeIn(std::chrono::milliseconds(1));
  poller.WakeIn(std::chrono::hours(1));
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(5);
  WaitOnce(poller, deadline);
  EXPECT_GE(Clock::now(), deadline);
}

TEST(Poller, HandsOutMoreEventsThanOneBatchHoldsInTurns) {
  Poller poller = Create();
  std::vector<QuickPipe> pipes(100);
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(write(pipes[i].writing.get(), "x", 1), 1);
    ASSERT_TRUE(poller.Add(pipes[i].reading.get(), i).ok());
  }
  std::multiset<uint64_t> all;
  for (std::multiset<uint64_t> some; !(some = Now(poller)).empty();) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), 100U);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(all.count(i), 1U);
}

TEST(Poller, StaysAboveStdioEvenIfThatIsClosed) {
  EXPECT_EQ(InChild([]() -> std::string {
              for (int fd = 0; fd <= 2; ++fd) Fd closing(fd);
              auto poller = Poller::Create();
              CHILD_CHECK(poller.ok());
              CHILD_CHECK(fcntl(0, F_GETFD) == -1 && fcntl(1, F_GETFD) == -1 && fcntl(2, F_GETFD) == -1);
              poller.value().Wake();
              CHILD_CHECK(poller.value().Wait(std::nullopt).ok());
              return "";
            }),
            "");
}

}  // namespace
}  // namespace spty
