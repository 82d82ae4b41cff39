#include "pty/pacing.h"

#include <gtest/gtest.h>

namespace spty {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Time = Pacing::Time;

const Time kStart = Time() + std::chrono::hours(1);

// A pacing in the middle of a flow.
Pacing InAFlow() {
  Pacing pacing;
  EXPECT_TRUE(pacing.AfterBatch(Pacing::kFlowBytes * 2, true, kStart).announce);
  return pacing;
}

TEST(Pacing, AnnouncesASmallOutputAtOnce) {
  Pacing pacing;
  for (int i = 0; i < 100; ++i) {
    Pacing::Decision decision = pacing.AfterBatch(10, false, kStart + milliseconds(i));
    EXPECT_TRUE(decision.announce);
    EXPECT_FALSE(decision.look_again.has_value());
  }
}

TEST(Pacing, AnnouncesNothingIfThereIsNothing) {
  Pacing pacing;
  for (bool at_once : {false, true}) {
    Pacing::Decision decision = pacing.AfterBatch(0, at_once, kStart);
    EXPECT_FALSE(decision.announce);
    EXPECT_FALSE(decision.look_again.has_value());
  }
}

TEST(Pacing, HoldsAFlowBackUntilItIsBulk) {
  Pacing pacing = InAFlow();
  size_t held = 0;
  int batches = 0;
  for (bool announced = false; !announced; ++batches) {
    ASSERT_LT(batches, 100);
    held += 5000;
    announced = pacing.AfterBatch(5000, false, kStart + microseconds(batches)).announce;
    EXPECT_EQ(announced, held >= Pacing::kBulkBytes);
  }
  EXPECT_GT(batches, 5);
}

TEST(Pacing, HoldsNothingLongerThanAWindow) {
  Pacing pacing = InAFlow();
  Pacing::Decision decision = pacing.AfterBatch(5000, false, kStart);
  EXPECT_FALSE(decision.announce);
  ASSERT_TRUE(decision.look_again.has_value()) << "somebody has to come back for it";
  EXPECT_EQ(*decision.look_again, kStart + Pacing::kWindow);
  // A look that finds nothing does not prolong it.
  decision = pacing.AfterBatch(0, false, kStart + microseconds(100));
  EXPECT_FALSE(decision.announce);
  EXPECT_EQ(*decision.look_again, kStart + Pacing::kWindow);
  EXPECT_TRUE(pacing.AfterBatch(0, false, kStart + Pacing::kWindow).announce);
}

TEST(Pacing, AnnouncesAtOnceIfNobodyCanWait) {
  Pacing pacing = InAFlow();
  EXPECT_FALSE(pacing.AfterBatch(100, false, kStart).announce);
  EXPECT_TRUE(pacing.AfterBatch(0, true, kStart).announce);
  EXPECT_FALSE(pacing.AfterBatch(0, true, kStart).announce) << "told already";
}

TEST(Pacing, ForgetsAFlowThatIsOver) {
  Pacing pacing = InAFlow();
  EXPECT_FALSE(pacing.AfterBatch(10, false, kStart).announce);
  EXPECT_TRUE(pacing.AfterBatch(0, false, kStart + Pacing::kWindow).announce);
  Time later = kStart + 4 * Pacing::kWindow;
  EXPECT_TRUE(pacing.AfterBatch(10, false, later).announce) << "a keystroke's echo again";
}

}  // namespace
}  // namespace spty
