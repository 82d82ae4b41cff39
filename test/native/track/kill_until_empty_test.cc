#include "track/kill_until_empty.h"

#include <gtest/gtest.h>

#include <vector>

namespace spty {
namespace {

const auto kNever = [] { return false; };

// Members with a plan: in each round everybody dies who is there, and `births` says how many come meanwhile.
struct Model {
  int members = 0;
  std::vector<int> births = {};
  bool immortal = false;
  size_t round = 0;
  std::vector<uint32_t> waits = {};
  bool news = false;

  bool ProvenEmpty() { return members == 0; }
  void KillRound() {
    if (!immortal) members = 0;
    if (round < births.size()) members += births[round];
    ++round;
  }
  bool Wait(uint32_t ms) {
    waits.push_back(ms);
    return news;
  }
};

TEST(KillUntilEmpty, DoesNothingToASessionThatIsEmpty) {
  Model model;
  const KillOutcome outcome = KillUntilEmpty(model, kNever);
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(outcome.rounds, 0u);
  EXPECT_EQ(model.round, 0u);
}

TEST(KillUntilEmpty, NeedsOneRoundAndNoPauseIfAllDieAtOnce) {
  Model model{.members = 5};
  const KillOutcome outcome = KillUntilEmpty(model, kNever);
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(outcome.rounds, 1u);
  EXPECT_TRUE(model.waits.empty());
}

TEST(KillUntilEmpty, FindsInTheNextRoundWhoWasBornInThisOne) {
  Model model{.members = 1, .births = {3, 1, 2}};
  const KillOutcome outcome = KillUntilEmpty(model, kNever);
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(outcome.rounds, 4u);
}

TEST(KillUntilEmpty, SaysNotConvergedWhenTimeIsUp) {
  Model model{.members = 1, .immortal = true};
  int asked = 0;
  const KillOutcome outcome = KillUntilEmpty(model, [&] { return ++asked > 6; });
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.rounds, 6u);
  EXPECT_EQ(model.round, 6u);
}

TEST(KillUntilEmpty, TakesAProofAlsoWhenTimeIsUp) {
  Model model;
  EXPECT_TRUE(KillUntilEmpty(model, [] { return true; }).converged);
}

TEST(KillUntilEmpty, KillsNobodyWhenTimeWasUpBefore) {
  Model model{.members = 1};
  const KillOutcome outcome = KillUntilEmpty(model, [] { return true; });
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.rounds, 0u);
  EXPECT_EQ(model.members, 1);
}

TEST(KillUntilEmpty, WaitsLongerAndLongerForWhatDoesNotDie) {
  Model model{.members = 1, .immortal = true};
  int asked = 0;
  KillUntilEmpty(model, [&] { return ++asked > 14; });
  ASSERT_EQ(model.waits.size(), 14u);
  EXPECT_EQ(model.waits.front(), kFirstPauseMs);
  for (size_t i = 1; i < model.waits.size(); ++i) {
    EXPECT_GE(model.waits[i], model.waits[i - 1]);
    EXPECT_LE(model.waits[i], 2 * kLongestPauseMs);
  }
  EXPECT_GE(model.waits.back(), kLongestPauseMs);
}

TEST(KillUntilEmpty, LooksAgainSoonWhileSomethingMoves) {
  Model model{.members = 1, .births = {1, 1, 1, 1}, .news = true};
  EXPECT_TRUE(KillUntilEmpty(model, kNever).converged);
  EXPECT_EQ(model.waits, std::vector<uint32_t>(4, kFirstPauseMs));
}

}  // namespace
}  // namespace spty
