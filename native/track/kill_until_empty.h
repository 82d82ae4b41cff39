// The convergent kill loop: the same on every platform, in the addon and in the keeper. No system header and
// no C++ library here; what a round does and what proves that nobody is left is the tracker's business.
#pragma once

#include <stdint.h>

namespace spty {

struct KillOutcome {
  bool converged = false;  // proven: nobody is left
  uint32_t rounds = 0;
};

inline constexpr uint32_t kFirstPauseMs = 1;
inline constexpr uint32_t kLongestPauseMs = 500;

// A Tracker has
//   bool ProvenEmpty();        true only if nobody is left and nobody can come back
//   void KillRound();          SIGKILL to everybody it can see now
//   bool Wait(uint32_t ms);    until something may have changed; false if nothing did
// `expired` is asked before each round. Killing goes on for as long as it may: whoever was missed in one
// round, because it was being born, is found in the next.
template <typename Tracker, typename Expired>
KillOutcome KillUntilEmpty(Tracker& tracker, Expired expired) {
  KillOutcome outcome;
  uint32_t pause = kFirstPauseMs;
  for (;;) {
    if (tracker.ProvenEmpty()) {
      outcome.converged = true;
      return outcome;
    }
    if (expired()) return outcome;
    tracker.KillRound();
    ++outcome.rounds;
    if (tracker.ProvenEmpty()) {
      outcome.converged = true;
      return outcome;
    }
    // Soon again while things move; a process that does not die is not worth a busy loop.
    if (tracker.Wait(pause)) {
      pause = kFirstPauseMs;
    } else if (pause < kLongestPauseMs) {
      pause *= 2;
    }
  }
}

}  // namespace spty
