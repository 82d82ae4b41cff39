// When the host hears of output, and how sessions share the pump.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "support/live_terminal.h"
#include "support/processes.h"

namespace spty {
namespace {

TEST(Announcement, OfASmallOutputComesAtOnce) {
  LiveTerminal terminal;
  for (int i = 1; i <= 200; ++i) {
    ASSERT_EQ(write(terminal.slave(), "k", 1), 1);
    // One each: none was held back to be joined with the next.
    ASSERT_TRUE(terminal.WaitForAnnouncements(i));
    ASSERT_EQ(terminal.TakeAll(), "k");
    EXPECT_EQ(terminal.announcements(), i);
  }
}

TEST(Announcement, OfBulkIsMadeForManyReadsTogether) {
  LiveTerminal terminal;
  constexpr size_t kBytes = size_t{4} << 20;
  std::thread child([&] {
    const std::string page(4096, 'b');
    for (size_t sent = 0; sent < kBytes;) {
      ssize_t size = write(terminal.slave(), page.data(), page.size());
      if (size <= 0) return;
      sent += static_cast<size_t>(size);
    }
  });
  EXPECT_GE(terminal.ReadBytes(kBytes).size(), kBytes);
  child.join();
  // The kernel hands out 4095 bytes at a time: without joining there would be a thousand.
  EXPECT_LT(terminal.announcements(), 500);
  EXPECT_GT(terminal.announcements(), 0);
}

TEST(Announcement, OfTheTailOfBulkComesWithoutMoreOutput) {
  for (int i = 0; i < 50; ++i) {
    LiveTerminal terminal;
    const std::string burst(12'000 + static_cast<size_t>(i) * 100, 'b');
    std::thread child(
        [&] { EXPECT_EQ(write(terminal.slave(), burst.data(), burst.size()), ssize_t(burst.size())); });
    EXPECT_EQ(terminal.ReadBytes(burst.size()).size(), burst.size());
    child.join();
  }
}

// Whatever the pump does when the host comes for what was announced: the host gets it, or is told again.
TEST(Announcement, IsRepeatedIfTheHostCameWhileThePumpHeldTheBlock) {
  LiveTerminal terminal;
  std::atomic<bool> stop = false;
  std::thread noise([&] {
    while (!stop) terminal.pump().Run([&] { terminal->OnReady(); });
  });
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(write(terminal.slave(), "k", 1), 1);
    EXPECT_EQ(terminal.ReadBytes(1), "k");
    if (testing::Test::HasFailure()) break;
  }
  stop = true;
  noise.join();
}

TEST(Fairness, ABusySessionDoesNotKeepAnotherFromThePump) {
  LiveTerminal busy;
  LiveTerminal quiet;
  std::atomic<bool> stop = false;
  std::thread child([&] {
    const std::string page(4096, 'b');
    while (!stop) {
      if (write(busy.slave(), page.data(), page.size()) <= 0) return;
    }
  });
  std::thread host([&] {
    while (busy.ends() == 0 && busy.WaitForOutput()) busy.TakeAll();
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(write(quiet.slave(), "q", 1), 1);
    EXPECT_EQ(quiet.ReadBytes(1), "q");
  }
  stop = true;
  child.join();
  busy.Finish();
  host.join();
}

TEST(Fairness, ASessionNobodyTakesFromDoesNotStopAnother) {
  LiveTerminal stuck;
  LiveTerminal other;
  std::thread child([&] {
    const std::string much(1'000'000, 's');
    // Ends when the terminal is hung up.
    for (size_t sent = 0; sent < much.size();) {
      ssize_t size = write(stuck.slave(), much.data(), much.size() - sent);
      if (size <= 0) return;
      sent += static_cast<size_t>(size);
    }
  });
  ASSERT_TRUE(stuck.WaitForOutput());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(write(other.slave(), "o", 1), 1);
    EXPECT_EQ(other.ReadBytes(1), "o");
  }
  EXPECT_EQ(stuck.ReadBytes(1'000'000).size(), 1'000'000U);
  child.join();
}

}  // namespace
}  // namespace spty
