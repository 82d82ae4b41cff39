#include "pty/input_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "support/descriptors.h"
#include "support/terminal.h"

namespace spty {
namespace {

using Flushed = InputQueue::Flushed;

struct QueuePipe : QuickPipe {
  std::string ReadNow() {
    std::string all;
    char bytes[65536];
    for (ssize_t size; (size = read(reading.get(), bytes, sizeof bytes)) > 0;) {
      all.append(bytes, static_cast<size_t>(size));
    }
    return all;
  }
};

// Something that the queue cannot get rid of at once.
std::string Big() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + ",";
  return text;
}

TEST(InputQueue, WritesAtOnceWhatTheKernelTakes) {
  QueuePipe pipe;
  InputQueue queue;
  EXPECT_EQ(queue.Write(pipe.writing.get(), "hello"), Flushed::kEmpty);
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(pipe.ReadNow(), "hello");
  EXPECT_EQ(queue.Flush(pipe.writing.get()), Flushed::kIdle);
}

TEST(InputQueue, QueuesTheRestAndGoesOnWithIt) {
  QueuePipe pipe;
  InputQueue queue;
  std::string big = Big();
  EXPECT_EQ(queue.Write(pipe.writing.get(), big), Flushed::kWaiting);
  size_t queued = queue.size();
  EXPECT_GT(queued, 0U);
  EXPECT_LT(queued, big.size());
  EXPECT_EQ(queue.Flush(pipe.writing.get()), Flushed::kWaiting) << "EAGAIN";
  EXPECT_EQ(queue.size(), queued);
  std::string got;
  Flushed flushed = Flushed::kWaiting;
  while (flushed == Flushed::kWaiting) {
    got += pipe.ReadNow();
    flushed = queue.Flush(pipe.writing.get());
  }
  EXPECT_EQ(flushed, Flushed::kEmpty);
  EXPECT_EQ(queue.size(), 0U);
  got += pipe.ReadNow();
  EXPECT_TRUE(got == big);
}

TEST(InputQueue, LetsNothingOvertakeWhatWaits) {
  QueuePipe pipe;
  InputQueue queue;
  std::string expected = Big();
  ASSERT_EQ(queue.Write(pipe.writing.get(), expected), Flushed::kWaiting);
  std::string got = pipe.ReadNow();
  // There is room now, but it belongs to what came first.
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(queue.Write(pipe.writing.get(), "key" + std::to_string(i)), Flushed::kWaiting);
    expected += "key" + std::to_string(i);
  }
  while (queue.Flush(pipe.writing.get()) == Flushed::kWaiting) got += pipe.ReadNow();
  got += pipe.ReadNow();
  EXPECT_TRUE(got == expected);
}

TEST(InputQueue, CountsWhatIsQueued) {
  QueuePipe pipe;
  InputQueue queue;
  ASSERT_EQ(queue.Write(pipe.writing.get(), Big()), Flushed::kWaiting);
  size_t before = queue.size();
  queue.Write(pipe.writing.get(), std::string(100'000, 'x'));
  EXPECT_EQ(queue.size(), before + 100'000);
}

// A pipe stands in for a terminal that answers with an error: Linux takes input for a terminal that nobody
// has open until its buffer is full.
TEST(InputQueue, DropsWhatADeadTerminalCannotTake) {
  auto before = signal(SIGPIPE, SIG_IGN);
  QueuePipe pipe;
  InputQueue queue;
  ASSERT_EQ(queue.Write(pipe.writing.get(), Big()), Flushed::kWaiting);
  EXPECT_GT(queue.size(), 0U);
  pipe.reading.Reset();
  EXPECT_EQ(queue.Flush(pipe.writing.get()), Flushed::kDead);
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.Write(pipe.writing.get(), "more"), Flushed::kDead);
  EXPECT_EQ(queue.size(), 0U);
  signal(SIGPIPE, before);
}

TEST(InputQueue, TouchesNoDescriptorOnceShut) {
  QueuePipe pipe;
  InputQueue queue;
  ASSERT_EQ(queue.Write(pipe.writing.get(), Big()), Flushed::kWaiting);
  pipe.ReadNow();
  queue.Shut();
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.Write(pipe.writing.get(), "late"), Flushed::kDead);
  EXPECT_EQ(queue.Flush(pipe.writing.get()), Flushed::kIdle);
  EXPECT_EQ(pipe.ReadNow(), "");
}

// However far the flusher is: once Shut has returned, nothing is written, as the number may be somebody
// else's.
TEST(InputQueue, TouchesNoDescriptorOnceShutUnderAFlusher) {
  for (int round = 0; round < 200; ++round) {
    QueuePipe pipe;
    InputQueue queue;
    ASSERT_EQ(queue.Write(pipe.writing.get(), Big()), Flushed::kWaiting);
    std::atomic<bool> began = false;
    std::thread pump([&] {
      Flushed flushed = Flushed::kWaiting;
      while (flushed == Flushed::kWaiting) {
        flushed = queue.Flush(pipe.writing.get());
        began = true;
      }
    });
    while (!began) std::this_thread::yield();
    for (int reads = round % 20; reads > 0; --reads) pipe.ReadNow();
    queue.Shut();
    pipe.ReadNow();
    EXPECT_EQ(pipe.ReadNow(), "");
    pump.join();
    EXPECT_EQ(pipe.ReadNow(), "") << "written after Shut";
  }
}

TEST(InputQueue, KeepsTheOrderBetweenAWriterAndAFlusher) {
  QueuePipe pipe;
  InputQueue queue;
  std::string expected;
  for (int i = 0; i < 300'000; ++i) expected += std::to_string(i) + "\n";
  std::atomic<bool> written = false;
  std::thread host([&] {
    for (size_t at = 0; at < expected.size();) {
      size_t size = std::min<size_t>(1 + at * 7 % 5000, expected.size() - at);
      queue.Write(pipe.writing.get(), std::string_view(expected).substr(at, size));
      at += size;
    }
    written = true;
  });
  std::thread pump([&] {
    while (!written || queue.size() > 0) {
      if (queue.Flush(pipe.writing.get()) == Flushed::kIdle) std::this_thread::yield();
    }
  });
  std::string got;
  while (got.size() < expected.size()) {
    pollfd watched{pipe.reading.get(), POLLIN, 0};
    ASSERT_EQ(poll(&watched, 1, 20'000), 1);
    got += pipe.ReadNow();
  }
  host.join();
  pump.join();
  EXPECT_TRUE(got == expected);
}

}  // namespace
}  // namespace spty
