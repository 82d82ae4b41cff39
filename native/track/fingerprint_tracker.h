// The tracker behind KillUntilEmpty where nothing but a mark tells who belongs to a session (macOS): a
// process cannot lose its Seatbelt profile, and children inherit it. No system header and no C++ library: the
// keeper uses it, and so do tests, with a process table that is made up.
//
// Why looking once and finding nobody proves nothing: the kernel lists numbers, and what dies before it is
// described or asked about is lost from the list, while its child was born too late to be on it. Whoever
// forks and exits all the time can pass under any number of such looks. So a look counts only if no process
// at all was born, anywhere, from before the list was taken until the last one on it had been asked.
//
// Why that takes two looks: who is just being forked has its number already but is on no list yet (SIDL). Its
// parent is, and may be gone when it is asked. But a parent leaves fork() before it dies, even of SIGKILL:
// once it is gone its child is there for the next look. So whoever is left after two looks without a birth
// was on one of the lists, has lived all the while, and would have said so.
//
// Why the newest are asked first when killing: numbers are given out in order, so whoever hops is always
// among the last few. From the number to the question it takes a moment there, and not a whole list.
//
// Some programs run without the profile of the process that starts them (see TrackingProfile), and so do
// their children: these strays are told by their parents, before anybody is killed, and remembered. One that
// was nobody's child by then is not found.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace spty {

struct ListedProcess {
  int32_t pid = 0;
  int32_t parent = 0;
  uint64_t started = 0;  // tells it from a later one with the same number
  bool zombie = false;   // can neither run nor fork
  bool foreign = false;  // another user's, and not ours to end
  bool belongs = false;  // noted by the tracker
};

enum class MarkProbe : uint8_t { kMember, kStranger, kGone, kUnknown };

// A Table has
//   bool StartWatch();                                   false: not possible now
//   bool NobodyBorn();                                   since StartWatch, in the whole system
//   int List(ListedProcess** list, size_t* count);       0 or an errno; valid until the next call
//   MarkProbe Probe(int32_t pid);
//   void Kill(int32_t pid);                              right after Probe said that it is a member
//   void KillGroup();                                    the shell's process group, if that is still its own
//   int32_t Newest();                                    the highest number given out lately; 0: unknown
//   bool Wait(uint32_t ms);
template <typename Table>
class FingerprintTracker {
 public:
  // So many proofs in a row that neither find anybody nor prove anything, and it is time to say so.
  static constexpr uint32_t kMostVainLooks = 400;
  static constexpr int kLooksOfAProof = 2;
  static constexpr int kNewestAsked = 48;
  static constexpr size_t kMostStrays = 256;

  explicit FingerprintTracker(Table& table) : table_(table) {}

  bool ProvenEmpty() {
    const bool watched = table_.StartWatch();
    bool complete = true;
    for (int i = 0; complete && i < kLooksOfAProof; ++i) {
      const Look look = LookAround(false);
      if (look.members > 0) {
        vain_looks_ = 0;
        return false;
      }
      complete = watched && look.complete;
    }
    if (complete && table_.NobodyBorn()) return true;
    ++vain_looks_;
    return false;
  }

  void KillRound() {
    // A stray whose parent was killed is a child of nobody's.
    if (!looked_for_strays_) looked_for_strays_ = LookAround(false).listed;
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
    bool listed = false;
    bool complete = false;  // everybody listed has answered, or is gone
  };
  struct Stray {
    int32_t pid = 0;
    uint64_t started = 0;
  };

  Look LookAround(bool kill) {
    Look look;
    ListedProcess* list = nullptr;
    size_t count = 0;
    if (table_.List(&list, &count) != 0) return look;
    look.listed = look.complete = true;
    for (size_t i = 0; i < count; ++i) {
      list[i].belongs = false;
      if (list[i].zombie) continue;
      const MarkProbe answer = kill ? AskAndKill(list[i].pid) : table_.Probe(list[i].pid);
      list[i].belongs = answer == MarkProbe::kMember;
      if (list[i].belongs) ++look.members;
      // Nobody becomes another user and keeps the mark; who is one may be no business of ours to ask about.
      if (answer == MarkProbe::kUnknown && !list[i].foreign) look.complete = false;
    }
    look.members += FollowStrays(list, count, kill);
    if (too_many_strays_) look.complete = false;
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

  // Those of the list that are strays, after whoever has the mark was noted in it.
  uint32_t FollowStrays(ListedProcess* list, size_t count, bool kill) {
    uint32_t found = 0;
    Stray still_there[kMostStrays];
    size_t kept = 0;
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < count; ++i) {
        ListedProcess& process = list[i];
        if (process.belongs || process.zombie || !IsStray(process, list, count)) continue;
        process.belongs = again = true;
        ++found;
        if (kept < kMostStrays) {
          still_there[kept++] = {process.pid, process.started};
        } else {
          too_many_strays_ = true;
        }
        if (!kill || process.foreign) continue;
        table_.Kill(process.pid);
        ++killed_;
      }
    }
    for (size_t i = 0; i < kept; ++i) strays_[i] = still_there[i];
    stray_count_ = kept;
    return found;
  }

  bool IsStray(const ListedProcess& process, const ListedProcess* list, size_t count) const {
    for (size_t i = 0; i < stray_count_; ++i) {
      if (strays_[i].pid == process.pid && strays_[i].started == process.started) return true;
    }
    if (process.parent <= 1) return false;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].pid == process.parent) return list[i].belongs && list[i].started <= process.started;
    }
    return false;
  }

  Table& table_;
  Stray strays_[kMostStrays];
  size_t stray_count_ = 0;
  bool looked_for_strays_ = false;
  bool too_many_strays_ = false;
  uint32_t vain_looks_ = 0;
  uint32_t killed_ = 0;
};

}  // namespace spty
