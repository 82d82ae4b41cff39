// The tracker behind KillUntilEmpty where nothing but a mark tells who belongs to a session (macOS): a
// process cannot lose its Seatbelt profile, and children inherit it. No system header and no C++ library: the
// keeper uses it, and so do tests, with a process table that is made up.
//
// Why looking once and finding nobody proves nothing: the kernel lists numbers, and what dies before it is
// described or asked about is lost from the list, while its child was born too late to be on it. Whoever
// forks and exits all the time can pass under any number of such looks. So a look counts only if no process
// at all was born, anywhere, from before the list was taken until the last one on it had been asked: whoever
// is left then was born before, has lived all the while, and was on the list.
//
// Why the newest are asked first when killing: numbers are given out in order, so whoever hops is always
// among the last few. From the number to the question it takes a moment there, and not a whole list.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace spty {

struct ListedProcess {
  int32_t pid = 0;
  bool zombie = false;  // can neither run nor fork
};

enum class MarkProbe : uint8_t { kMember, kStranger, kGone, kUnknown };

// A Table has
//   bool StartWatch();                                   false: not possible now
//   bool NobodyBorn();                                   since StartWatch, in the whole system
//   int List(const ListedProcess** list, size_t* count); 0 or an errno; valid until the next call
//   MarkProbe Probe(int32_t pid);
//   void Kill(int32_t pid);                              right after Probe said that it is a member
//   void KillGroup();                                    the shell's process group, if that is still its own
//   int32_t Newest();                                    the highest number given out lately; 0: unknown
//   bool Wait(uint32_t ms);
template <typename Table>
class FingerprintTracker {
 public:
  // So many looks in a row that neither find anybody nor prove anything, and it is time to say so.
  static constexpr uint32_t kMostVainLooks = 400;
  static constexpr int kNewestAsked = 48;

  explicit FingerprintTracker(Table& table) : table_(table) {}

  bool ProvenEmpty() {
    const bool watched = table_.StartWatch();
    Look look = LookAround(false);
    if (look.members > 0) {
      vain_looks_ = 0;
      return false;
    }
    if (watched && look.complete && table_.NobodyBorn()) return true;
    ++vain_looks_;
    return false;
  }

  void KillRound() {
    table_.KillGroup();
    const int32_t newest = table_.Newest();
    for (int32_t pid = newest; pid > 1 && newest - pid < kNewestAsked; --pid) AskAndKill(pid);
    LookAround(true);
  }

  bool Wait(uint32_t ms) { return table_.Wait(ms); }

  // For KillUntilEmpty's `expired`: nobody is seen, but nothing proves that there is nobody.
  bool GivesUp() const { return vain_looks_ >= kMostVainLooks; }
  uint32_t killed() const { return killed_; }

 private:
  struct Look {
    uint32_t members = 0;
    bool complete = false;  // everybody listed has answered, or is gone
  };

  Look LookAround(bool kill) {
    Look look;
    const ListedProcess* list = nullptr;
    size_t count = 0;
    if (table_.List(&list, &count) != 0) return look;
    look.complete = true;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].zombie) continue;
      const MarkProbe answer = kill ? AskAndKill(list[i].pid) : table_.Probe(list[i].pid);
      if (answer == MarkProbe::kMember) ++look.members;
      if (answer == MarkProbe::kUnknown) look.complete = false;
    }
    return look;
  }

  MarkProbe AskAndKill(int32_t pid) {
    const MarkProbe answer = table_.Probe(pid);
    if (answer == MarkProbe::kMember) {
      table_.Kill(pid);
      ++killed_;
    }
    return answer;
  }

  Table& table_;
  uint32_t vain_looks_ = 0;
  uint32_t killed_ = 0;
};

}  // namespace spty
