#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/eintr.h"
#include "keeper/child_walk_linux.h"
#include "keeper/session_killer.h"
#include "keeper/sys.h"
#include "track/remove_tree.h"

namespace spty {
namespace {

constexpr int kRemoveAttempts = 100;
// Rounds that a session takes to end whose cgroup or scope was killed: a few, or one for each of many that
// end.
constexpr uint32_t kPatience = 50;
// That the shell is given to die in, before its children are killed one by one all the same.
constexpr uint32_t kShellRounds = 4;
// While nobody tells of an end.
constexpr uint32_t kLongestSilenceMs = 20;

bool Atomic(uint32_t mechanisms) { return (mechanisms & (wire::kByCgroup | wire::kByScope)) != 0; }

// "populated 0" in cgroup.events, or no cgroup any more: the kernel removes only what is empty. Any other
// trouble with the file proves nothing.
bool CgroupEmpty(int events) {
  char text[256];
  ssize_t size = RetryEintr([&] { return pread(events, text, sizeof text - 1, 0); });
  if (size == -1 && errno == ENODEV) return true;
  if (size <= 0) return false;
  text[size] = '\0';
  return strstr(text, "populated 0") != nullptr;
}

// Before Linux 5.14 there is no cgroup.kill. Only our own children are killed by their numbers
// (KillChildren): others could be somebody else by now.
bool KillCgroup(int kill_fd) { return kill_fd >= 0 && write(kill_fd, "1", 1) == 1; }

}  // namespace

bool SessionKiller::ProvenEmpty() {
  if (children_.Reap()) return false;
  return !plan_.cgroup_events.valid() || CgroupEmpty(plan_.cgroup_events.get());
}

void SessionKiller::KillRound() {
  if (KillCgroup(plan_.cgroup_kill.get())) mechanisms_ |= wire::kByCgroup;
  // ESRCH: nobody is left.
  if (scoped_ && (kill(-1, SIGKILL) == 0 || errno == ESRCH)) mechanisms_ |= wire::kByScope;
  mechanisms_ |= wire::kByWalk;
  if (children_.shell() > 0) KillShell(children_.shell());
  ++rounds_;
  // One by one is all there is, or those that were to be caught all at once have been elsewhere.
  if (!vanishing_ && (!Atomic(mechanisms_) || rounds_ > kPatience) && CanKillVanishingChildren()) {
    vanishing_ = children_.LetVanish();
    // The shell is about to be reaped. Until then there may be thousands of zombies, and looking through them
    // all takes longer than one who forks all the time needs to be another.
    if (!vanishing_ && rounds_ < kShellRounds) return;
  }
  if (!vanishing_) return KillChildren();
  fresh_ = KillVanishingChildren();
  vanished_ += fresh_;
}

// After a round that reached everybody at once there is nothing to do but to reap: rounds for each of a
// thousand that end would take the processor from those who still have to.
bool SessionKiller::Wait(uint32_t ms) {
  constexpr int kMostReapings = 1000;  // between two rounds, should somebody have been missed after all
  // A new face means that somebody was quick enough to fork: no time to lose, and nobody will tell.
  if (vanishing_ && fresh_ > 0) return true;
  if (vanishing_ && ms > kLongestSilenceMs) ms = kLongestSilenceMs;
  if (!children_.WaitForOne(ms)) return false;
  for (int i = 0; Atomic(mechanisms_) && !vanishing_ && i < kMostReapings; ++i) {
    if (!children_.Reap() || !children_.WaitForOne(ms)) break;
  }
  return true;
}

// A process that cannot be killed now is waited for, however long that takes.
bool SessionKiller::GivesUp() const { return false; }

uint32_t SessionKiller::killed_strays() const { return vanished_; }

bool ProveScope(int control) {
  struct {
    pid_t pid;
    uid_t uid;
    gid_t gid;
  } host{};  // struct ucred, which C libraries hide behind _GNU_SOURCE
  socklen_t size = sizeof host;
  if (getsockopt(control, SOL_SOCKET, SO_PEERCRED, &host, &size) == -1) return false;
  if (host.pid <= 1 || host.uid != geteuid()) return false;
  return kill(host.pid, 0) == -1 && errno == EPERM;
}

int RemoveCgroup(const ReceivedPlan& plan) {
  if (!plan.cgroup_place.valid()) return 0;
  for (int attempt = 0;; ++attempt) {
    if (unlinkat(plan.cgroup_place.get(), plan.view.cgroup_name, AT_REMOVEDIR) == 0 || errno == ENOENT)
      return 0;
    // There are cgroups in it, or the last one may still be on its way out of the kernel.
    if (errno != EBUSY || attempt == kRemoveAttempts) return errno;
    RemoveCgroupsIn(plan.cgroup_place.get(), plan.view.cgroup_name);
    timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace spty
