// What the pump promises to the sources it watches.
#include <gtest/gtest.h>

#include <latch>

#include "support/live_session.h"
#include "support/pipe_source.h"

namespace spty {
namespace {

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

TEST(Pump, SkipsADeadlineOfASourceThatAnEarlierOneRemoved) {
  auto pump = AcquirePump();
  auto first = AddPipe(*pump);
  auto second = AddPipe(*pump);
  std::latch passed(1);
  pump->Run([&] {
    auto remove_both = [&] {
      pump->Remove(first->token);
      pump->Remove(second->token);
      if (first->deadlines + second->deadlines == 1) passed.count_down();
    };
    first->on_deadline = second->on_deadline = remove_both;
    pump->SetDeadline(first->token, Clock::now());
    pump->SetDeadline(second->token, Clock::now());
  });
  passed.wait();
  pump->Run([] {});
  EXPECT_EQ(first->deadlines + second->deadlines, 1);
  pump->Run([&] { first->on_deadline = second->on_deadline = nullptr; });
}

}  // namespace
}  // namespace spty
