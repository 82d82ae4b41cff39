#include "keeper/plan.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "keeper/wire.h"

namespace spty {
namespace {

Plan SmallPlan() {
  Plan plan;
  plan.cwd = "/tmp";
  plan.candidates = {"/bin/a", "/usr/bin/a"};
  plan.argv = {"a", "", "two words"};
  plan.env = {"A=1", "B="};
  return plan;
}

TEST(EncodePlan, BeginsWithTheFixedPart) {
  Plan plan = SmallPlan();
  plan.signal_mask = 0x8000000000000001;
  plan.set_ids = true;
  plan.identity = Identity{7, 8, true, {9, 10, 11}};
  auto encoded = EncodePlan(plan);
  ASSERT_TRUE(encoded.ok());
  wire::PlanFixed fixed;
  ASSERT_GE(encoded.value().size(), sizeof fixed);
  memcpy(&fixed, encoded.value().data(), sizeof fixed);
  EXPECT_EQ(fixed.signal_mask, 0x8000000000000001);
  EXPECT_EQ(fixed.set_ids, 1U);
  EXPECT_EQ(fixed.set_groups, 1U);
  EXPECT_EQ(fixed.uid, 7U);
  EXPECT_EQ(fixed.gid, 8U);
  EXPECT_EQ(fixed.group_count, 3U);
  EXPECT_EQ(fixed.candidate_count, 2U);
  EXPECT_EQ(fixed.argument_count, 3U);
  EXPECT_EQ(fixed.env_count, 2U);
}

TEST(EncodePlan, LeavesAnIdentityOutThatIsNotToBeSet) {
  Plan plan = SmallPlan();
  auto without = EncodePlan(plan);
  plan.identity = Identity{7, 8, true, {9, 10, 11}};
  auto ignored = EncodePlan(plan);
  plan.set_ids = true;
  auto with = EncodePlan(plan);
  ASSERT_TRUE(without.ok() && ignored.ok() && with.ok());
  EXPECT_EQ(ignored.value(), without.value());
  EXPECT_NE(with.value(), without.value());
}

TEST(EncodePlan, RefusesNothingToExecute) {
  Plan plan = SmallPlan();
  ASSERT_TRUE(EncodePlan(plan).ok());
  plan.candidates.clear();
  EXPECT_EQ(EncodePlan(plan).error().err, EINVAL);
  plan = SmallPlan();
  plan.argv.clear();
  auto refused = EncodePlan(plan);
  EXPECT_EQ(refused.error().stage, Stage::kPlan);
  EXPECT_EQ(refused.error().err, EINVAL);
}

TEST(EncodePlan, RefusesANulByteInAnyString) {
  const std::string bad("a\0b", 3);
  auto errno_of = [](const Plan& plan) {
    auto encoded = EncodePlan(plan);
    return encoded.ok() ? 0 : encoded.error().err;
  };
  Plan plan = SmallPlan();
  EXPECT_EQ(errno_of(plan), 0);
  plan.cwd = bad;
  EXPECT_EQ(errno_of(plan), EINVAL);
  plan = SmallPlan();
  plan.candidates[1] = bad;
  EXPECT_EQ(errno_of(plan), EINVAL);
  plan = SmallPlan();
  plan.argv[2] = bad;
  EXPECT_EQ(errno_of(plan), EINVAL);
  plan = SmallPlan();
  plan.env[0] = bad;
  EXPECT_EQ(errno_of(plan), EINVAL);
}

TEST(EncodePlan, RefusesMoreThanAKeeperAccepts) {
  Plan plan = SmallPlan();
  plan.env = {std::string(wire::kMaxPlanBytes - 200, 'x')};
  ASSERT_TRUE(EncodePlan(plan).ok());
  plan.env.push_back(std::string(200, 'y'));
  EXPECT_EQ(EncodePlan(plan).error().err, E2BIG);
  plan = SmallPlan();
  plan.cwd = std::string(wire::kMaxPlanBytes, 'x');
  EXPECT_EQ(EncodePlan(plan).error().err, E2BIG);
}

TEST(EncodePlan, RefusesTooManyStringsAndGroups) {
  Plan plan = SmallPlan();
  plan.env.assign(size_t{wire::kMaxStrings} + 1, "");
  EXPECT_EQ(EncodePlan(plan).error().err, E2BIG);
  plan.env.pop_back();
  EXPECT_TRUE(EncodePlan(plan).ok());
  plan = SmallPlan();
  plan.set_ids = true;
  plan.identity.groups.assign(wire::kMaxGroups + 1, 5);
  EXPECT_EQ(EncodePlan(plan).error().err, E2BIG);
  plan.identity.groups.pop_back();
  EXPECT_TRUE(EncodePlan(plan).ok());
}

}  // namespace
}  // namespace spty
