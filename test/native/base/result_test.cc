#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace spty {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Error{Stage::kRequest, EINVAL, std::to_string(number)};
  return number / 2;
}

Result<void> RequireEven(int number) {
  if (number % 2 != 0) return Error{Stage::kPlan, ERANGE, "odd"};
  return {};
}

Result<int> Quarter(int number, bool* reached) {
  TRY_ASSIGN(int half, Half(number));
  *reached = true;
  TRY_ASSIGN(int quarter, Half(half));
  return quarter;
}

Result<int> Checked(int number) {
  TRY(RequireEven(number));
  return number;
}

TEST(Result, HoldsAValue) {
  Result<int> result = Half(8);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value(), 4);
}

TEST(Result, HoldsAnErrorWithStageErrnoAndSubject) {
  Result<int> result = Half(7);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().stage, Stage::kRequest);
  EXPECT_EQ(result.error().err, EINVAL);
  EXPECT_EQ(result.error().subject, "7");
}

TEST(Result, GivesUpAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  ASSERT_TRUE(result.ok());
  std::unique_ptr<int> taken = std::move(result).value();
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, OfNothingIsSuccessByDefault) {
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_FALSE(RequireEven(1).ok());
}

TEST(Try, PassesTheValueOn) {
  bool reached = false;
  Result<int> result = Quarter(12, &reached);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value(), 3);
  EXPECT_TRUE(reached);
  EXPECT_EQ(Checked(4).value(), 4);
}

TEST(Try, LeavesWithTheFirstError) {
  bool reached = false;
  EXPECT_EQ(Quarter(5, &reached).error().subject, "5");
  EXPECT_FALSE(reached);
  EXPECT_EQ(Quarter(6, &reached).error().subject, "3");
  EXPECT_TRUE(reached);
  EXPECT_EQ(Checked(3).error().err, ERANGE);
  EXPECT_EQ(Checked(3).error().stage, Stage::kPlan);
}

}  // namespace
}  // namespace spty
