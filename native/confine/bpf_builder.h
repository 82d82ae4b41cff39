// Assembles a classic BPF program for seccomp. Jumps go to labels, and whatever cannot be encoded as meant is
// an error: no program with a wrong jump, an open end or a comparison of a forgotten value leaves this class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "uapi/seccomp.h"

namespace spty {

class BpfBuilder {
 public:
  // A place to jump to. Belongs to the builder that made it.
  class Label {
   public:
    Label() = default;

   private:
    friend class BpfBuilder;
    explicit Label(size_t index) : index_(index) {}
    size_t index_ = SIZE_MAX;
  };

  Label NewLabel();
  // `label` is here. Each label needs exactly one place, after all jumps to it: BPF cannot jump back.
  void Bind(Label label);

  // Load a word of seccomp_data. After Bind something must be loaded before it is compared: what the jumps
  // that lead there had loaded is not relied on.
  void LoadNumber();
  void LoadArchitecture();
  // Half of argument `index`, 0 to 5. The kernel takes ints and unsigned ints from the low half and ignores
  // the other.
  void LoadArgumentLow(int index);
  void LoadArgumentHigh(int index);
  // Of what is loaded.
  void And(uint32_t mask);

  // Go on with the next instruction if the condition does not hold.
  void JumpIfEqual(uint32_t value, Label target);
  void JumpIfNotEqual(uint32_t value, Label target);
  void JumpIfAtLeast(uint32_t value, Label target);
  void JumpIfAnyBitSet(uint32_t bits, Label target);
  void Jump(Label target);
  void Return(uint32_t action);

  // The program, or the first mistake in it.
  Result<std::vector<SockFilter>> Assemble() const;

 private:
  // Which fields of the instruction lead to the label.
  enum class Arm : uint8_t { kAlways, kTrue, kFalse };
  struct Fixup {
    size_t at;
    size_t label;
    Arm arm;
  };

  void Load(uint32_t offset);
  void Emit(uint16_t code, uint32_t k);
  void EmitJump(uint16_t code, uint32_t k, Label target, Arm arm);
  void Fail(int err, const std::string& what);
  Result<void> Resolve(const Fixup& fixup, std::vector<SockFilter>& program) const;

  std::vector<SockFilter> program_;
  std::vector<size_t> places_;  // per label; SIZE_MAX until bound
  std::vector<Fixup> fixups_;
  bool loaded_ = false;    // something that may be compared
  bool reachable_ = true;  // the next instruction
  Error first_mistake_;
};

}  // namespace spty
