#include "pty/pump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "support/limits.h"
#include "support/live_session.h"
#include "support/processes_linux.h"

namespace spty {
namespace {

// A pipe whose reading end is watched.
class PipeSource : public Pump::Source {
 public:
  PipeSource() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    reading = Fd(ends[0]);
    writing = Fd(ends[1]);
  }
  void OnReady() override {
    ++ready;
    if (on_ready) on_ready();
  }
  void OnDeadline() override {
    ++deadlines;
    if (on_deadline) on_deadline();
  }
  void Poke() { EXPECT_EQ(write(writing.get(), "x", 1), 1); }

  Fd reading;
  Fd writing;
  Pump::Token token = 0;
  std::function<void()> on_ready;
  std::function<void()> on_deadline;
  std::atomic<int> ready = 0;
  std::atomic<int> deadlines = 0;
};

std::shared_ptr<PipeSource> AddPipe(Pump& pump) {
  auto source = std::make_shared<PipeSource>();
  EXPECT_TRUE(pump.Add(source->reading.get(), source, &source->token).ok());
  return source;
}

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

TEST(Pump, CallsASourceWhenSomethingHappens) {
  auto pump = AcquirePump();
  auto source = AddPipe(*pump);
  std::latch called(1);
  pump->Run([&] { source->on_ready = [&] { called.count_down(); }; });
  source->Poke();
  called.wait();
  pump->Run([&] { pump->Remove(source->token); });
}

TEST(Pump, KeepsASourceAliveUntilItIsRemoved) {
  auto pump = AcquirePump();
  auto source = AddPipe(*pump);
  std::weak_ptr<PipeSource> weak = source;
  Pump::Token token = source->token;
  source.reset();
  pump->Run([] {});
  EXPECT_FALSE(weak.expired());
  pump->Run([&] { pump->Remove(token); });
  EXPECT_TRUE(weak.expired());
}

TEST(Pump, CallsNobodyAfterRemove) {
  auto pump = AcquirePump();
  auto source = AddPipe(*pump);
  auto witness = AddPipe(*pump);
  std::latch seen(1);
  pump->Run([&] {
    witness->on_ready = [&] { seen.count_down(); };
    pump->SetDeadline(source->token, Clock::time_point::min());
    pump->Again(source->token);
    pump->Remove(source->token);
    pump->Remove(source->token);  // unknown by now: ignored
  });
  source->Poke();
  witness->Poke();
  seen.wait();
  pump->Run([&] { pump->Remove(witness->token); });
  EXPECT_EQ(source->ready, 0);
  EXPECT_EQ(source->deadlines, 0);
}

TEST(Pump, LetsASourceRemoveItselfAndAddOthers) {
  auto pump = AcquirePump();
  auto first = AddPipe(*pump);
  std::shared_ptr<PipeSource> second;
  std::latch added(1);
  pump->Run([&] {
    first->on_ready = [&] {
      pump->Remove(first->token);
      second = AddPipe(*pump);
      second->on_ready = [&] {
        pump->Remove(second->token);
        added.count_down();
      };
      second->Poke();
    };
  });
  first->Poke();
  added.wait();
  first->Poke();
  pump->Run([] {});
  EXPECT_EQ(first->ready, 1);
  EXPECT_EQ(second->ready, 1);
}

TEST(Pump, SkipsASourceThatAnEarlierOneOfTheSameBatchRemoved) {
  auto pump = AcquirePump();
  auto first = AddPipe(*pump);
  auto second = AddPipe(*pump);
  std::latch done(1);
  pump->Run([&] {
    auto remove_other = [&](const std::shared_ptr<PipeSource>& self,
                            const std::shared_ptr<PipeSource>& other) {
      self->on_ready = [&, self, other] {
        pump->Remove(other->token);
        pump->Remove(self->token);
        done.count_down();
      };
    };
    remove_other(first, second);
    remove_other(second, first);
    // Both while the pump is busy here: it gets them in one batch.
    first->Poke();
    second->Poke();
  });
  done.wait();
  pump->Run([] {});
  EXPECT_EQ(first->ready + second->ready, 1);
  pump->Run([&] { first->on_ready = second->on_ready = nullptr; });
}

TEST(Pump, CallsAgainAfterTheOthersHadTheirTurn) {
  auto pump = AcquirePump();
  auto greedy = AddPipe(*pump);
  auto other = AddPipe(*pump);
  std::vector<std::string> order;
  std::latch done(1);
  pump->Run([&] {
    greedy->on_ready = [&] {
      order.push_back("greedy");
      if (greedy->ready < 3) pump->Again(greedy->token);
      if (greedy->ready == 3) done.count_down();
    };
    other->on_ready = [&] { order.push_back("other"); };
    greedy->Poke();
    other->Poke();
  });
  done.wait();
  pump->Run([&] {
    pump->Remove(greedy->token);
    pump->Remove(other->token);
  });
  ASSERT_EQ(order.size(), 4U);
  EXPECT_TRUE(order[0] == "other" || order[1] == "other") << "before the second turn";
}

TEST(Pump, KeepsOneDeadlinePerSource) {
  auto pump = AcquirePump();
  auto source = AddPipe(*pump);
  std::latch passed(1);
  Clock::time_point later;
  bool early = false;
  pump->Run([&] {
    source->on_deadline = [&] {
      early = Clock::now() < later;
      passed.count_down();
    };
    pump->SetDeadline(source->token, Clock::now() + std::chrono::hours(1));
    later = Clock::now() + std::chrono::microseconds(500);
    pump->SetDeadline(source->token, later);
  });
  passed.wait();
  pump->Run([&] { pump->Remove(source->token); });
  EXPECT_FALSE(early);
  EXPECT_EQ(source->deadlines, 1);
}

TEST(Pump, ForgetsADeadlineThatWasTakenBack) {
  auto pump = AcquirePump();
  auto cancelled = AddPipe(*pump);
  auto witness = AddPipe(*pump);
  std::latch passed(1);
  pump->Run([&] {
    witness->on_deadline = [&] { passed.count_down(); };
    Clock::time_point soon = Clock::now() + std::chrono::milliseconds(1);
    pump->SetDeadline(cancelled->token, soon);
    pump->SetDeadline(witness->token, soon);
    pump->SetDeadline(cancelled->token, std::nullopt);
  });
  passed.wait();
  pump->Run([&] {
    pump->Remove(cancelled->token);
    pump->Remove(witness->token);
  });
  EXPECT_EQ(cancelled->deadlines, 0);
}

TEST(Pump, LetsADeadlineRemoveAnotherSourceThatIsDueToo) {
  auto pump = AcquirePump();
  auto first = AddPipe(*pump);
  auto second = AddPipe(*pump);
  std::latch passed(1);
  pump->Run([&] {
    first->on_deadline = [&] {
      pump->Remove(second->token);
      passed.count_down();
    };
    pump->SetDeadline(first->token, Clock::now());
  });
  passed.wait();
  pump->Run([&] { pump->Remove(first->token); });
  EXPECT_EQ(first->deadlines, 1);
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
  Footprint before = Footprint::Now();
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
