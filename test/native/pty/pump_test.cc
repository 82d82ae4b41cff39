#include "pty/pump.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <latch>
#include <set>
#include <thread>

#include "support/limits.h"
#include "support/live_session.h"
#include "support/pipe_source.h"
#include "support/processes.h"

namespace spty {
namespace {

TEST(Pump, IsOneForTheWholeProcess) {
  auto first = AcquirePump();
  auto second = AcquirePump();
  EXPECT_EQ(first, second);
}

TEST(Pump, RunsWhatIsPostedInOrderOnOneOtherThread) {
  auto pump = AcquirePump();
  std::vector<int> order;
  std::set<std::thread::id> threads;
  for (int i = 0; i < 1000; ++i) {
    pump->Post([&, i] {
      order.push_back(i);
      threads.insert(std::this_thread::get_id());
    });
  }
  pump->Run([&] { order.push_back(1000); });
  ASSERT_EQ(order.size(), 1001U);
  for (int i = 0; i <= 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST(Pump, RunsWhatATaskPosts) {
  auto pump = AcquirePump();
  std::latch done(1);
  pump->Post([&] { pump->Post([&] { done.count_down(); }); });
  done.wait();
}

TEST(Pump, RunsWhatHasTimeWhenItIsOverOrWithTheNextTask) {
  auto pump = AcquirePump();
  std::latch over(1);
  pump->PostWithin(std::chrono::milliseconds(3), [&] { over.count_down(); });
  over.wait();
  // The nearer one takes the other with it, whichever came first; and neither comes twice.
  std::vector<int> order;
  std::latch both(1);
  pump->PostWithin(std::chrono::hours(1), [&] { order.push_back(1); });
  pump->PostWithin(std::chrono::milliseconds(1), [&] { order.push_back(2); });
  pump->PostWithin(std::chrono::hours(1), [&] {
    order.push_back(3);
    both.count_down();
  });
  both.wait();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  pump->PostWithin(std::chrono::hours(1), [&] { order.push_back(4); });
  pump->Run([&] { order.push_back(5); });
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4, 5}));
}

TEST(Pump, RunsTasksFromManyThreads) {
  auto pump = AcquirePump();
  int count = 0;  // no atomic: one thread touches it
  std::vector<std::thread> hosts;
  for (int host = 0; host < 4; ++host) {
    hosts.emplace_back([&] {
      for (int i = 0; i < 500; ++i) pump->Post([&] { ++count; });
      pump->Run([&] { ++count; });
    });
  }
  for (std::thread& host : hosts) host.join();
  pump->Run([&] { EXPECT_EQ(count, 4 * 501); });
}

TEST(Pump, RefusesADescriptorThatCannotBeWatched) {
  auto pump = AcquirePump();
  auto source = std::make_shared<PipeSource>();
  EXPECT_EQ(pump->Add(-1, source, &source->token).error().err, EBADF);
  EXPECT_EQ(source.use_count(), 1) << "nothing keeps it";
}

TEST(Pump, LeavesSignalsToTheHostsThreads) {
  auto pump = AcquirePump();
  sigset_t mask;
  sigemptyset(&mask);
  pump->Run([&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  for (int number : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGWINCH, SIGHUP}) {
    EXPECT_EQ(sigismember(&mask, number), 1) << number;
    sigset_t own;
    pthread_sigmask(SIG_SETMASK, nullptr, &own);
    EXPECT_EQ(sigismember(&own, number), 0) << number;
  }
}

TEST(Pump, EndsWithItsLastOwnerAndLeavesNothing) {
  Footprint before = Footprint::AtRest();
  auto pump = AcquirePump();
  EXPECT_NE(Footprint::Now(), before);
  auto source = AddPipe(*pump);
  std::weak_ptr<PipeSource> weak = source;
  source.reset();
  pump.reset();  // with a source left
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(Footprint::Now(), before);
  EXPECT_TRUE(AcquirePump() != nullptr) << "another one starts";
}

TEST(Pump, SaysThatItCouldNotStart) {
  Stage stage = Stage::kNone;
  {
    DescriptorLimit limit(0);
    auto pump = Pump::Acquire();
    if (!pump.ok()) stage = pump.error().stage;
  }
  EXPECT_STREQ(StageName(stage), "pump");
}

}  // namespace
}  // namespace spty
