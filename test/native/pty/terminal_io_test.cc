#include "pty/terminal_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "support/live_terminal.h"
#include "support/processes.h"

namespace spty {
namespace {

void WriteAll(int fd, std::string_view text, size_t piece) {
  while (!text.empty()) {
    ssize_t size = write(fd, text.data(), std::min(piece, text.size()));
    ASSERT_GT(size, 0);
    text.remove_prefix(static_cast<size_t>(size));
  }
}

std::string Lines(size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i) + (i % 7 == 0 ? "\n" : " ");
  return text;
}

TEST(TerminalIo, LosesNothingInAnyShape) {
  const std::string text = Lines(size_t{10} << 20 >> 2);
  for (size_t piece : {size_t{17}, size_t{4095}, size_t{4096}, size_t{1} << 20}) {
    SCOPED_TRACE(piece);
    LiveTerminal terminal;
    std::string_view part(text);
    if (piece == 17) part = part.substr(0, 400'000);
    std::thread child([&] { WriteAll(terminal.slave(), part, piece); });
    std::string got = terminal.ReadBytes(part.size());
    child.join();
    EXPECT_TRUE(got == part);
  }
}

TEST(TerminalIo, LosesNothingOfTenMegabytesForASlowAndIrregularReader) {
  const std::string text = Lines(size_t{10} << 20);
  LiveTerminal terminal;
  std::thread child([&] { WriteAll(terminal.slave(), text, 8192); });
  std::string got;
  std::mt19937 random(1);
  while (got.size() < text.size()) {
    // Now and then several blocks, now and then one, so that the queue is full most of the time.
    got += random() % 4 == 0 ? terminal.TakeAll() : terminal.TakeOne();
    if (random() % 8 == 0) std::this_thread::yield();
    if (got.size() < text.size() && !terminal.WaitForOutput()) break;
  }
  child.join();
  EXPECT_TRUE(got == text) << got.size() << " of " << text.size();
}

TEST(TerminalIo, BlocksTheWriterWhenNobodyTakes) {
  LiveTerminal terminal;
  Fd writer(fcntl(terminal.slave(), F_DUPFD_CLOEXEC, 3));
  ASSERT_EQ(fcntl(writer.get(), F_SETFL, O_RDWR | O_NONBLOCK), 0);
  const std::string page(4096, 'p');
  size_t written = 0;
  // Full for good only when the pump has stopped as well: it has met the bound.
  auto fill = [&] {
    for (ssize_t size; (size = write(writer.get(), page.data(), page.size())) > 0;) {
      written += static_cast<size_t>(size);
    }
    pollfd watched{writer.get(), POLLOUT, 0};
    return poll(&watched, 1, 100) == 0;
  };
  ASSERT_TRUE(Eventually(fill));
  EXPECT_LE(written, OutputQueue::kMaxBlocks * Block::kCapacity + (size_t{128} << 10));
  EXPECT_GE(written, OutputQueue::kMaxBlocks * (Block::kCapacity - OutputQueue::kMinRoom));
  std::string got = terminal.ReadBytes(written);
  EXPECT_EQ(got.size(), written);
  pollfd watched{writer.get(), POLLOUT, 0};
  EXPECT_EQ(poll(&watched, 1, 20'000), 1) << "writing goes on once somebody takes";
}

TEST(TerminalIo, StaysWithAChildThatClosesItsStdioAndComesBack) {
  LiveTerminal terminal;
  WriteAll(terminal.slave(), "before ", 100);
  EXPECT_EQ(terminal.ReadBytes(7), "before ");
  terminal.CloseSlave();
  terminal.pump().Run([] {});
  Fd again(open(terminal.name().c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(again.valid());
  WriteAll(again.get(), "after", 100);
  EXPECT_EQ(terminal.ReadBytes(5), "after");
  EXPECT_EQ(terminal.ends(), 0) << "only Finish ends it";
}

// How much of the next 300 ms the pump's thread uses.
Clock::duration BusyTime(Pump& pump) {
  auto cpu = [&] {
    timespec used{};
    pump.Run([&] { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used); });
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  };
  auto before = cpu();
  pollfd nothing{-1, 0, 0};
  poll(&nothing, 1, 300);
  return cpu() - before;
}

TEST(TerminalIo, DoesNotSpinOnAHangUp) {
  {
    LiveTerminal terminal;
    terminal.CloseSlave();
    terminal.pump().Run([] {});
    EXPECT_LT(BusyTime(terminal.pump()), std::chrono::milliseconds(100));
  }
  // What is measured does see a thread that spins.
  LiveTerminal terminal;
  std::atomic<bool> stop = false;
  std::function<void()> spin = [&] {
    if (!stop) terminal.pump().Post(spin);
  };
  terminal.pump().Post(spin);
  EXPECT_GT(BusyTime(terminal.pump()), std::chrono::milliseconds(5));
  stop = true;
  terminal.pump().Run([] {});
  terminal.pump().Run([] {});
}

TEST(TerminalIo, DoesNotSpinOnInputThatNobodyCanRead) {
  LiveTerminal terminal;
  ASSERT_EQ(terminal->Write(std::string(500'000, 'x')), InputQueue::Flushed::kWaiting);
  terminal.CloseSlave();
  terminal.pump().Run([] {});
  EXPECT_LT(BusyTime(terminal.pump()), std::chrono::milliseconds(100));
  // It is still there for whoever comes next.
  Fd again(open(terminal.name().c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(again.valid());
  char bytes[4096];
  for (size_t got = 0; got < 100'000;) {
    ssize_t size = read(again.get(), bytes, sizeof bytes);
    ASSERT_GT(size, 0);
    got += static_cast<size_t>(size);
  }
}

TEST(TerminalIo, EndsOnlyAfterEverythingWasRead) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{3000}}) {
    LiveTerminal terminal;
    std::string text = Lines(size).substr(0, size);
    WriteAll(terminal.slave(), text, 4096);
    terminal.CloseSlave();
    terminal.Finish();
    ASSERT_TRUE(terminal.WaitForEnd());
    EXPECT_EQ(terminal.TakeAll(), text);
    EXPECT_EQ(terminal.ends(), 1);
  }
}

TEST(TerminalIo, EndsWithAFullQueueOnlyAfterThatWasTaken) {
  LiveTerminal terminal;
  Fd writer(fcntl(terminal.slave(), F_DUPFD_CLOEXEC, 3));
  ASSERT_EQ(fcntl(writer.get(), F_SETFL, O_RDWR | O_NONBLOCK), 0);
  const std::string text = Lines(size_t{400} << 10);
  size_t written = 0;
  ASSERT_TRUE(Eventually([&] {
    for (ssize_t size; (size = write(writer.get(), text.data() + written, text.size() - written)) > 0;) {
      written += static_cast<size_t>(size);
    }
    pollfd watched{writer.get(), POLLOUT, 0};
    return poll(&watched, 1, 100) == 0;
  }));
  writer.Reset();
  terminal.CloseSlave();
  terminal.Finish();
  EXPECT_EQ(terminal.ends(), 0);
  EXPECT_TRUE(terminal.ReadBytes(written) == text.substr(0, written));
  EXPECT_TRUE(terminal.WaitForEnd());
}

TEST(TerminalIo, EndsThoughSomebodyKeepsTheSlaveOpenAndWrites) {
  LiveTerminal terminal;
  std::atomic<bool> stop = false;
  std::thread stranger([&] {
    Fd writer(fcntl(terminal.slave(), F_DUPFD_CLOEXEC, 3));
    fcntl(writer.get(), F_SETFL, O_RDWR | O_NONBLOCK);
    const std::string page(4096, 's');
    while (!stop) {
      if (write(writer.get(), page.data(), page.size()) == -1) std::this_thread::yield();
    }
  });
  ASSERT_TRUE(terminal.WaitForOutput());
  terminal.Finish();
  while (terminal.ends() == 0 && terminal.WaitForOutput()) terminal.TakeAll();
  stop = true;
  stranger.join();
  EXPECT_EQ(terminal.ends(), 1);
}

TEST(TerminalIo, WritesInputAsTheChildReadsAndSaysWhenItIsThrough) {
  LiveTerminal terminal;
  const std::string input = Lines(500'000);
  ASSERT_EQ(terminal->Write(input), InputQueue::Flushed::kWaiting);
  EXPECT_GT(terminal->queued_input(), 0U);
  EXPECT_EQ(terminal.flushes(), 0);
  std::string got;
  char bytes[4096];
  while (got.size() < input.size()) {
    ssize_t size = read(terminal.slave(), bytes, sizeof bytes);
    ASSERT_GT(size, 0);
    got.append(bytes, static_cast<size_t>(size));
  }
  EXPECT_TRUE(got == input);
  EXPECT_TRUE(terminal.WaitForLastFlush());
  EXPECT_EQ(terminal->queued_input(), 0U);
}

TEST(TerminalIo, AsksForMoreInputBeforeTheLastIsWritten) {
  LiveTerminal terminal;
  constexpr size_t kRead = 400'000;
  ASSERT_EQ(terminal->Write(Lines(500'000)), InputQueue::Flushed::kWaiting);
  char bytes[4096];
  for (size_t got = 0; got < kRead;) {
    ssize_t size = read(terminal.slave(), bytes, std::min(sizeof bytes, kRead - got));
    ASSERT_GT(size, 0);
    got += static_cast<size_t>(size);
  }
  EXPECT_TRUE(terminal.WaitForFlushes(1));
  EXPECT_GT(terminal->queued_input(), 0U);
}

// The copy of a large write is made without keeping the pump from writing what came before.
TEST(TerminalIo, WritesLargeInputToAChildThatReadsFasterThanItComes) {
  LiveTerminal terminal;
  const std::string input = Lines(1'000'000);
  constexpr int kTimes = 20;
  std::string got;
  std::thread child([&] {
    char bytes[4096];
    while (got.size() < kTimes * input.size()) {
      ssize_t size = read(terminal.slave(), bytes, sizeof bytes);
      if (size <= 0) return;
      got.append(bytes, static_cast<size_t>(size));
    }
  });
  for (int i = 0; i < kTimes; ++i) terminal->Write(input);
  child.join();
  ASSERT_EQ(got.size(), kTimes * input.size());
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EQ(got.compare(static_cast<size_t>(i) * input.size(), input.size(), input), 0) << i;
  }
}

// The queue runs empty and fills again all the time: each time the pump stops watching for room, and the host
// asks for it again. A word lost between the two would leave input lying there for ever.
TEST(TerminalIo, NeverForgetsInputWhileTheQueueRunsEmptyAndFillsAgain) {
  LiveTerminal terminal;
  const std::string input = Lines(4'000'000);
  std::string got;
  std::thread child([&] {
    char bytes[8192];
    while (got.size() < input.size()) {
      pollfd watched{terminal.slave(), POLLIN, 0};
      ssize_t size = poll(&watched, 1, 10'000) == 1 ? read(terminal.slave(), bytes, sizeof bytes) : 0;
      if (size <= 0) return;
      got.append(bytes, static_cast<size_t>(size));
    }
  });
  std::minstd_rand random(7);
  for (size_t at = 0; at < input.size();) {
    size_t size = std::min<size_t>(random() % 9000 + 1, input.size() - at);
    terminal->Write(std::string_view(input).substr(at, size));
    at += size;
    // Mostly empty, at times full.
    if (random() % 8 != 0) continue;
    for (int seen = terminal.flushes(); terminal->queued_input() > 0; seen = terminal.flushes()) {
      if (terminal.WaitForFlushes(seen + 1)) continue;
      ADD_FAILURE() << terminal->queued_input() << " bytes wait for nothing";
      at = input.size();
      break;
    }
  }
  child.join();
  EXPECT_TRUE(got == input) << got.size() << " of " << input.size();
}

TEST(TerminalIo, TouchesNothingAfterStopAndKeepsWhatWasRead) {
  LiveTerminal terminal;
  WriteAll(terminal.slave(), "kept", 100);
  ASSERT_TRUE(terminal.WaitForOutput());
  terminal.pump().Run([&] { terminal->Stop(); });
  WriteAll(terminal.slave(), "unread", 100);
  EXPECT_EQ(terminal->Write("x"), InputQueue::Flushed::kDead);
  terminal.pump().Run([&] { terminal->OnReady(); });
  EXPECT_EQ(terminal.TakeAll(), "kept");
}

TEST(TerminalIo, DropsEverythingWhenAbandoned) {
  LiveTerminal terminal;
  WriteAll(terminal.slave(), "dropped", 100);
  ASSERT_TRUE(terminal.WaitForOutput());
  terminal.pump().Run([&] { terminal->Abandon(); });
  EXPECT_EQ(terminal.TakeAll(), "");
  EXPECT_EQ(terminal.ends(), 0);
}

TEST(TerminalIo, CarriesTextOfOurOwnLikeTheChilds) {
  LiveTerminal terminal;
  terminal.pump().Run([&] { terminal->Inject("a line\r\n"); });
  terminal.Finish();
  ASSERT_TRUE(terminal.WaitForEnd());
  EXPECT_EQ(terminal.TakeAll(), "a line\r\n");
}

TEST(TerminalIo, TellsAsciiFromTheRest) {
  LiveTerminal terminal;
  WriteAll(terminal.slave(), "plain", 100);
  ASSERT_TRUE(terminal.WaitForOutput());
  EXPECT_TRUE(terminal->TakeOutput(terminal.io()).block->ascii);
  WriteAll(terminal.slave(), "\xc3\xa4", 100);
  ASSERT_TRUE(terminal.WaitForOutput());
  EXPECT_FALSE(terminal->TakeOutput(terminal.io()).block->ascii);
}

}  // namespace
}  // namespace spty
