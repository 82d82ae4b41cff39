// Ends a session from the keeper: the tracker behind KillUntilEmpty there. All means that the session has are
// used together, since each catches what another might miss.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "keeper/control.h"

namespace spty {

// What the keeper knows about its own children.
class Children {
 public:
  // Reaps those that have ended. False if there is none left at all.
  virtual bool Reap() = 0;
  // Until one ends, at most so long. False if none did.
  virtual bool WaitForOne(uint32_t ms) = 0;
  // The shell, until it was reaped: then 0.
  virtual pid_t shell() const = 0;
  // From now on they vanish as they end, and nobody is told: those that fork and end faster than they are
  // reaped would bury the others under their zombies, and us with them. Only those that asked us to trace
  // them still have to be reaped. False while the shell's end is still to be told.
  virtual bool LetVanish() = 0;

 protected:
  ~Children() = default;
};

class SessionKiller {
 public:
  // `scoped`: kill(-1) from here reaches the session and nobody else, and that has been proven.
  SessionKiller(const ReceivedPlan& plan, Children& children, bool scoped)
      : plan_(plan), children_(children), scoped_(scoped) {}

  // No child is left, and every orphan of the session would be one (we are its subreaper); and the kernel
  // says that nobody is in the cgroup.
  bool ProvenEmpty();
  void KillRound();
  bool Wait(uint32_t ms);
  // Nobody is seen any more, but nothing will ever prove that nobody is left.
  bool GivesUp() const;
  // How many were killed that are not ours to reap.
  uint32_t killed_strays() const;

  uint32_t mechanisms() const { return mechanisms_; }

 private:
  const ReceivedPlan& plan_;
  Children& children_;
  [[maybe_unused]] bool scoped_;  // not on macOS
  uint32_t mechanisms_ = 0;
  // These neither.
  [[maybe_unused]] uint32_t rounds_ = 0;
  [[maybe_unused]] uint32_t fresh_ = 0;     // killed in the last round, and not before
  [[maybe_unused]] uint32_t vanished_ = 0;  // killed and not to be counted by reaping
  [[maybe_unused]] bool vanishing_ = false;
};

// Whether kill(-1) from this process, which has entered its scoped Landlock domain, spares the host: then it
// spares everybody outside. Signal 0 to the host must be refused, and nothing but the scope can refuse it, as
// the host is this process's own user.
bool ProveScope(int control);

// The session's cgroup, once it is empty. 0 or an errno.
int RemoveCgroup(const ReceivedPlan& plan);

}  // namespace spty
