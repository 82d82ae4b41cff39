#include "confine/bpf_builder.h"

#include <cerrno>

namespace spty {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

Error Mistake(int err, const std::string& what) { return {Stage::kSeccomp, err, "seccomp filter: " + what}; }

}  // namespace

BpfBuilder::Label BpfBuilder::NewLabel() {
  places_.push_back(kNowhere);
  return Label(places_.size() - 1);
}

void BpfBuilder::Bind(Label label) {
  if (label.index_ >= places_.size()) return Fail(EINVAL, "a label of another program");
  if (places_[label.index_] != kNowhere) return Fail(EINVAL, "a label in two places");
  places_[label.index_] = program_.size();
  loaded_ = false;
  reachable_ = true;
}

void BpfBuilder::LoadNumber() { Load(offsetof(SeccompData, nr)); }

void BpfBuilder::LoadArchitecture() { Load(offsetof(SeccompData, arch)); }

// Both supported architectures are little-endian: the low half comes first.
void BpfBuilder::LoadArgumentLow(int index) {
  if (index < 0 || index > 5) return Fail(EINVAL, "no such argument");
  Load(static_cast<uint32_t>(offsetof(SeccompData, args) + 8 * static_cast<size_t>(index)));
}

void BpfBuilder::LoadArgumentHigh(int index) {
  if (index < 0 || index > 5) return Fail(EINVAL, "no such argument");
  Load(static_cast<uint32_t>(offsetof(SeccompData, args) + 8 * static_cast<size_t>(index) + 4));
}

void BpfBuilder::And(uint32_t mask) {
  if (!loaded_) return Fail(EINVAL, "nothing is loaded");
  Emit(kBpfAnd, mask);
}

void BpfBuilder::JumpIfEqual(uint32_t value, Label target) {
  EmitJump(kBpfJumpIfEqual, value, target, Arm::kTrue);
}

void BpfBuilder::JumpIfNotEqual(uint32_t value, Label target) {
  EmitJump(kBpfJumpIfEqual, value, target, Arm::kFalse);
}

void BpfBuilder::JumpIfAtLeast(uint32_t value, Label target) {
  EmitJump(kBpfJumpIfAtLeast, value, target, Arm::kTrue);
}

void BpfBuilder::JumpIfAnyBitSet(uint32_t bits, Label target) {
  EmitJump(kBpfJumpIfAnyBitSet, bits, target, Arm::kTrue);
}

void BpfBuilder::Jump(Label target) {
  EmitJump(kBpfJump, 0, target, Arm::kAlways);
  reachable_ = false;
}

void BpfBuilder::Return(uint32_t action) {
  Emit(kBpfReturn, action);
  reachable_ = false;
}

void BpfBuilder::Load(uint32_t offset) {
  Emit(kBpfLoadWord, offset);
  loaded_ = true;
}

void BpfBuilder::Emit(uint16_t code, uint32_t k) {
  if (!reachable_) return Fail(EINVAL, "an instruction that nothing leads to");
  if (program_.size() >= kBpfMaxInstructions) return Fail(E2BIG, "too many instructions");
  program_.push_back({code, 0, 0, k});
}

void BpfBuilder::EmitJump(uint16_t code, uint32_t k, Label target, Arm arm) {
  if (arm != Arm::kAlways && !loaded_) return Fail(EINVAL, "a comparison of nothing");
  if (target.index_ >= places_.size()) return Fail(EINVAL, "a label of another program");
  fixups_.push_back({program_.size(), target.index_, arm});
  Emit(code, k);
}

void BpfBuilder::Fail(int err, const std::string& what) {
  if (first_mistake_.err == 0) first_mistake_ = Mistake(err, what);
}

Result<void> BpfBuilder::Resolve(const Fixup& fixup, std::vector<SockFilter>& program) const {
  size_t place = places_[fixup.label];
  if (place == kNowhere) return Mistake(EINVAL, "a jump to nowhere");
  // The distance counts from the instruction after the jump.
  if (place <= fixup.at) return Mistake(EINVAL, "a jump back");
  if (place >= program.size()) return Mistake(EINVAL, "a jump past the end");
  size_t distance = place - fixup.at - 1;
  SockFilter& instruction = program[fixup.at];
  if (fixup.arm == Arm::kAlways) {
    instruction.k = static_cast<uint32_t>(distance);
    return {};
  }
  if (distance > UINT8_MAX) return Mistake(ERANGE, "a conditional jump over more than 255 instructions");
  (fixup.arm == Arm::kTrue ? instruction.jump_true : instruction.jump_false) = static_cast<uint8_t>(distance);
  return {};
}

Result<std::vector<SockFilter>> BpfBuilder::Assemble() const {
  if (first_mistake_.err != 0) return first_mistake_;
  if (program_.empty() || reachable_) return Mistake(EINVAL, "a program that runs past its end");
  std::vector<SockFilter> program = program_;
  for (const Fixup& fixup : fixups_) TRY(Resolve(fixup, program));
  return program;
}

}  // namespace spty
