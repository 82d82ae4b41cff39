#include "confine/bpf_builder.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "confine/bpf_interpreter.h"

namespace spty {
namespace {

// 0 if it can be assembled.
int ErrnoOf(const BpfBuilder& builder) {
  auto program = builder.Assemble();
  return program.ok() ? 0 : program.error().err;
}

uint32_t Answer(const BpfBuilder& builder, const SeccompData& data) {
  auto program = builder.Assemble();
  EXPECT_TRUE(program.ok()) << Describe(program.error());
  if (!program.ok()) return 0;
  std::optional<uint32_t> answer = RunBpf(program.value(), data);
  EXPECT_TRUE(answer.has_value());
  return answer.value_or(0);
}

// A program that jumps over `count` instructions if the number is 7.
BpfBuilder JumpOver(int count, bool conditional) {
  BpfBuilder builder;
  BpfBuilder::Label far = builder.NewLabel();
  BpfBuilder::Label skip = builder.NewLabel();
  builder.LoadNumber();
  if (conditional) {
    builder.JumpIfEqual(7, far);
  } else {
    builder.JumpIfNotEqual(7, skip);
    builder.Jump(far);
    builder.Bind(skip);
    builder.LoadNumber();
  }
  for (int i = 0; i < count - 1; ++i) builder.And(0xffffffff);
  builder.Return(1);
  builder.Bind(far);
  builder.Return(2);
  return builder;
}

TEST(BpfBuilder, LoadsTheFieldThatWasAsked) {
  SeccompData data{11, 22, 33, {}};
  for (uint64_t i = 0; i < 6; ++i) data.args[i] = (200 + i) << 32 | (100 + i);
  auto loads = [&](auto load, uint32_t value) {
    BpfBuilder builder;
    BpfBuilder::Label equal = builder.NewLabel();
    load(builder);
    builder.JumpIfEqual(value, equal);
    builder.Return(0);
    builder.Bind(equal);
    builder.Return(1);
    return Answer(builder, data) == 1;
  };
  EXPECT_TRUE(loads([](BpfBuilder& b) { b.LoadNumber(); }, 11));
  EXPECT_TRUE(loads([](BpfBuilder& b) { b.LoadArchitecture(); }, 22));
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(loads([i](BpfBuilder& b) { b.LoadArgumentLow(i); }, static_cast<uint32_t>(100 + i)));
    EXPECT_TRUE(loads([i](BpfBuilder& b) { b.LoadArgumentHigh(i); }, static_cast<uint32_t>(200 + i)));
  }
}

TEST(BpfBuilder, JumpsOnEachCondition) {
  auto taken = [](auto jump, uint32_t number) {
    BpfBuilder builder;
    BpfBuilder::Label target = builder.NewLabel();
    builder.LoadNumber();
    jump(builder, target);
    builder.Return(0);
    builder.Bind(target);
    builder.Return(1);
    return Answer(builder, {number, 0, 0, {}}) == 1;
  };
  using Label = BpfBuilder::Label;
  auto equal = [](BpfBuilder& b, Label l) { b.JumpIfEqual(5, l); };
  auto not_equal = [](BpfBuilder& b, Label l) { b.JumpIfNotEqual(5, l); };
  auto at_least = [](BpfBuilder& b, Label l) { b.JumpIfAtLeast(5, l); };
  auto any_bit = [](BpfBuilder& b, Label l) { b.JumpIfAnyBitSet(6, l); };
  auto masked = [](BpfBuilder& b, Label l) {
    b.And(0xf);
    b.JumpIfEqual(5, l);
  };
  EXPECT_TRUE(taken(equal, 5) && !taken(equal, 4) && !taken(equal, 6));
  EXPECT_TRUE(!taken(not_equal, 5) && taken(not_equal, 4) && taken(not_equal, 0xffffffff));
  EXPECT_TRUE(taken(at_least, 5) && taken(at_least, 0x80000000) && !taken(at_least, 4));
  EXPECT_TRUE(taken(any_bit, 2) && taken(any_bit, 4) && !taken(any_bit, 9));
  EXPECT_TRUE(taken(masked, 0xfff5) && !taken(masked, 0xfff4));
}

TEST(BpfBuilder, RefusesAConditionalJumpThatIsTooFar) {
  for (int count : {1, 2, 254, 255}) {
    EXPECT_EQ(Answer(JumpOver(count, true), {7, 0, 0, {}}), 2u) << count;
    EXPECT_EQ(Answer(JumpOver(count, true), {8, 0, 0, {}}), 1u) << count;
  }
  EXPECT_EQ(ErrnoOf(JumpOver(256, true)), ERANGE);
  EXPECT_EQ(ErrnoOf(JumpOver(300, true)), ERANGE);
}

TEST(BpfBuilder, JumpsFarWithoutACondition) {
  EXPECT_EQ(Answer(JumpOver(3000, false), {7, 0, 0, {}}), 2u);
  EXPECT_EQ(Answer(JumpOver(3000, false), {8, 0, 0, {}}), 1u);
}

TEST(BpfBuilder, RefusesMoreThanTheKernelTakes) {
  auto of_size = [](size_t size) {
    BpfBuilder builder;
    for (size_t i = 1; i < size; ++i) builder.LoadNumber();
    builder.Return(0);
    return ErrnoOf(builder);
  };
  EXPECT_EQ(of_size(1), 0);
  EXPECT_EQ(of_size(4096), 0);
  EXPECT_EQ(of_size(4097), E2BIG);
  EXPECT_EQ(of_size(70000), E2BIG);
}

TEST(BpfBuilder, RefusesAnOpenEnd) {
  BpfBuilder empty;
  EXPECT_EQ(ErrnoOf(empty), EINVAL);
  BpfBuilder open;
  open.LoadNumber();
  EXPECT_EQ(ErrnoOf(open), EINVAL);
  BpfBuilder label_last;
  label_last.Return(0);
  label_last.Bind(label_last.NewLabel());
  EXPECT_EQ(ErrnoOf(label_last), EINVAL);
}

TEST(BpfBuilder, RefusesLabelsThatLeadAstray) {
  BpfBuilder unbound;
  unbound.LoadNumber();
  unbound.JumpIfEqual(1, unbound.NewLabel());
  unbound.Return(0);
  EXPECT_EQ(ErrnoOf(unbound), EINVAL);

  BpfBuilder back;
  BpfBuilder::Label start = back.NewLabel();
  back.Bind(start);
  back.LoadNumber();
  back.JumpIfEqual(1, start);
  back.Return(0);
  EXPECT_EQ(ErrnoOf(back), EINVAL);

  BpfBuilder twice;
  BpfBuilder::Label label = twice.NewLabel();
  twice.LoadNumber();
  twice.JumpIfEqual(1, label);
  twice.Bind(label);
  twice.LoadNumber();
  twice.Bind(label);
  twice.Return(0);
  EXPECT_EQ(ErrnoOf(twice), EINVAL);

  BpfBuilder foreign;
  foreign.LoadNumber();
  foreign.JumpIfEqual(1, BpfBuilder::Label());
  foreign.Return(0);
  EXPECT_EQ(ErrnoOf(foreign), EINVAL);
  BpfBuilder foreign_bind;
  foreign_bind.Bind(BpfBuilder::Label());
  foreign_bind.Return(0);
  EXPECT_EQ(ErrnoOf(foreign_bind), EINVAL);
}

TEST(BpfBuilder, RefusesToCompareWhatWasNotLoaded) {
  BpfBuilder nothing;
  BpfBuilder::Label target = nothing.NewLabel();
  nothing.JumpIfEqual(1, target);
  nothing.Bind(target);
  nothing.Return(0);
  EXPECT_EQ(ErrnoOf(nothing), EINVAL);

  // What is loaded at a label depends on who jumped there.
  BpfBuilder stale;
  BpfBuilder::Label first = stale.NewLabel();
  BpfBuilder::Label second = stale.NewLabel();
  stale.LoadNumber();
  stale.JumpIfEqual(1, first);
  stale.LoadArchitecture();
  stale.Bind(first);
  stale.JumpIfEqual(2, second);
  stale.Bind(second);
  stale.Return(0);
  EXPECT_EQ(ErrnoOf(stale), EINVAL);

  BpfBuilder masked;
  masked.And(1);
  masked.Return(0);
  EXPECT_EQ(ErrnoOf(masked), EINVAL);
}

TEST(BpfBuilder, RefusesArgumentsThatDoNotExist) {
  for (int index : {-1, 6, 100}) {
    BpfBuilder low;
    low.LoadArgumentLow(index);
    low.Return(0);
    EXPECT_EQ(ErrnoOf(low), EINVAL);
    BpfBuilder high;
    high.LoadArgumentHigh(index);
    high.Return(0);
    EXPECT_EQ(ErrnoOf(high), EINVAL);
  }
}

TEST(BpfBuilder, RefusesWhatNothingLeadsTo) {
  BpfBuilder builder;
  builder.Return(0);
  builder.LoadNumber();
  builder.Return(1);
  EXPECT_EQ(ErrnoOf(builder), EINVAL);
}

TEST(BpfBuilder, SaysWhatIsWrong) {
  BpfBuilder builder;
  builder.LoadNumber();
  EXPECT_EQ(Describe(builder.Assemble().error()),
            "seccomp: seccomp filter: a program that runs past its end: Invalid argument");
}

TEST(BpfInterpreter, RefusesProgramsThatTheKernelWouldRefuse) {
  SeccompData data{};
  EXPECT_EQ(RunBpf({}, data), std::nullopt);
  EXPECT_EQ(RunBpf({{kBpfLoadWord, 0, 0, 64}, {kBpfReturn, 0, 0, 0}}, data), std::nullopt);
  EXPECT_EQ(RunBpf({{kBpfLoadWord, 0, 0, 2}, {kBpfReturn, 0, 0, 0}}, data), std::nullopt);
  EXPECT_EQ(RunBpf({{kBpfJump, 0, 0, 1}, {kBpfReturn, 0, 0, 0}}, data), std::nullopt);
  EXPECT_EQ(RunBpf({{0xffff, 0, 0, 0}, {kBpfReturn, 0, 0, 0}}, data), std::nullopt);
  EXPECT_EQ(RunBpf({{kBpfLoadWord, 0, 0, 60}, {kBpfReturn, 0, 0, 9}}, data), 9u);
}

}  // namespace
}  // namespace spty
