#include <signal.h>
#include <termios.h>

#include "keeper/session_killer.h"
#include "track/mark_table_macos.h"

namespace spty {
namespace {

class KeeperTable : public MarkTable {
 public:
  KeeperTable(const char* mark, Children& children) : MarkTable(mark), children_(children) {}

  // Only we reap the shell: until then its number, and so that of its group, is its own.
  void KillGroup() {
    const pid_t shell = children_.shell();
    if (shell <= 0) return;
    kill(-shell, SIGKILL);
    kill(shell, SIGKILL);
  }

  // What our own short-lived children left in the pipe is no news.
  bool Wait(uint32_t ms) {
    children_.Reap();
    return children_.WaitForOne(ms);
  }

 private:
  Children& children_;
};

struct Tracking {
  Tracking(const char* mark, Children& children) : table(mark, children), tracker(table) {}
  KeeperTable table;
  FingerprintTracker<KeeperTable> tracker;
  bool killed_once = false;
};

// A keeper has one session.
Tracking* tracking = nullptr;

Tracking& TrackingOf(const ReceivedPlan& plan, Children& children) {
  static Tracking one(plan.view.mark, children);
  tracking = &one;
  return one;
}

}  // namespace

bool SessionKiller::ProvenEmpty() {
  if (children_.Reap()) return false;
  Tracking& own = TrackingOf(plan_, children_);
  return own.table.marked() && own.tracker.ProvenEmpty();
}

void SessionKiller::KillRound() {
  Tracking& own = TrackingOf(plan_, children_);
  // XNU lets who dies wait until its terminal's output was read, which may be never. Whoever is still there
  // after a round gets rid of it: what nobody has read by then is lost.
  if (own.killed_once && plan_.slave.valid()) (void)tcflush(plan_.slave.get(), TCOFLUSH);
  own.killed_once = true;
  if (!own.table.marked()) return own.table.KillGroup();
  mechanisms_ |= wire::kByMark;
  own.tracker.KillRound();
}

bool SessionKiller::Wait(uint32_t ms) { return TrackingOf(plan_, children_).tracker.Wait(ms); }

bool SessionKiller::GivesUp() const {
  if (tracking == nullptr) return false;
  // Without a mark nothing is ever proven, once the shell is dead.
  return tracking->table.marked() ? tracking->tracker.GivesUp() : children_.shell() == 0;
}

uint32_t SessionKiller::killed_strays() const { return tracking == nullptr ? 0 : tracking->tracker.killed(); }

// There is no such thing as a scope for kill(-1) here.
bool ProveScope(int) { return false; }

int RemoveCgroup(const ReceivedPlan&) { return 0; }

}  // namespace spty
