// The keeper: one per session, started by the host with posix_spawn, outside any policy. Single-threaded, but
// for the gate of a confined session, whose threads start after the fork, with the first request.
//
// It receives the plan, starts the shell, reports what became of it, and is the subreaper to which everything
// that the shell leaves behind comes back. The control socket is its lifeline: EOF means that the host is
// done with the session, or dead; either way the keeper ends every process it can see, and then itself. It
// never writes to the user's terminal, and it has no file open but its own.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/eintr.h"
#include "base/fd.h"
#include "keeper/around.h"
#include "keeper/child.h"
#include "keeper/confine.h"
#include "keeper/control.h"
#include "keeper/gate.h"
#include "keeper/session_killer.h"
#include "keeper/sys.h"
#include "track/kill_until_empty.h"
#include "track/remove_tree.h"

namespace spty {
namespace {

constexpr int kControl = wire::kControlFd;
constexpr int kReapBatch = 256;
constexpr int kMostZombies = 1 << 16;

int child_event_fd = -1;

void OnChildEvent(int) {
  int saved = errno;
  char byte = 0;
  // Non-blocking: a full pipe already holds the news.
  (void)!write(child_event_fd, &byte, 1);
  errno = saved;
}

const Reserved* reserved = nullptr;  // Main's

// For a session that never came to be. Nothing has run, so there is nothing in them; what has something in it
// is not what the host was about to make.
void RemoveReserved() {
  if (reserved == nullptr) return;
  if (reserved->cgroup_place.valid())
    (void)unlinkat(reserved->cgroup_place.get(), reserved->cgroup_name, AT_REMOVEDIR);
  if (reserved->temp_dir[0] != '\0') (void)rmdir(reserved->temp_dir);
}

[[noreturn]] void Refuse(const wire::Failed& failed) {
  RemoveReserved();
  // If even this cannot be sent the host sees EOF, and that is an error there too.
  _exit(SendFrame(kControl, wire::Type::kFailed, &failed, sizeof failed) == 0 ? 0 : 1);
}

[[noreturn]] void Refuse(Stage stage, int err) { Refuse({stage, 0, err, 0, {}}); }

// A session that is over before it has begun. A host that is not dead hears that nobody was ever in it.
int LookForHost(void*) {
  if (OtherEndIsDone(kControl)) Refuse(Stage::kFork, ECANCELED);
  return 0;
}

int TellWorking(void*) { return SendFrame(kControl, wire::Type::kWorking, nullptr, 0); }

// Here and not in the host, whose event loop would have to wait: directories can be large, and slow.
// Whether there was something to do.
bool CompleteRules(ReceivedPlan* plan) {
  if (plan->arounds.first() == nullptr) return false;
  wire::Failed failed{Stage::kConfinement, 0, 0, 0, {}};
  failed.err = AddRulesAround(plan->inner_domain.get(), plan->arounds.first(),
                              {LookForHost, TellWorking, nullptr}, failed.text, sizeof failed.text);
  if (failed.err != 0) Refuse(failed);
  plan->arounds.Clear();
  return true;
}

class Keeper final : public Children {
 public:
  explicit Keeper(ReceivedPlan plan) : plan_(static_cast<ReceivedPlan&&>(plan)) {}

  // Everything that can fail before the fork. 0 or an errno.
  int Prepare() {
    int ends[2];
    if (int err = OpenPipe(ends, true); err != 0) return err;
    child_events_ = Fd(ends[0]);
    child_event_fd = ends[1];  // owned by the process: the handler needs it until the end
    struct sigaction action {};
    action.sa_handler = OnChildEvent;
    action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
    if (sigaction(SIGCHLD, &action, nullptr) == -1) return errno;
    sigset_t all_but_child;
    sigfillset(&all_but_child);
    sigdelset(&all_but_child, SIGCHLD);
    if (sigprocmask(SIG_SETMASK, &all_but_child, nullptr) == -1) return errno;
    if (int err = OpenPipe(ends, false); err != 0) return err;
    verdict_ = Fd(ends[0]);
    verdict_write_ = Fd(ends[1]);
    if (!plan_.view.gate) return 0;
    if (int err = OpenSocketPair(ends); err != 0) return err;
    gate_ = Fd(ends[0]);
    gate_child_ = Fd(ends[1]);
    return 0;
  }

  // The domain around keeper and session: from inside it, nobody outside can be signalled or reached by an
  // abstract socket, while the shell's own domain, nested in it, keeps the session's hands off the keeper.
  int EnterOuterDomain() {
    if (!plan_.view.outer_domain) return 0;
    if (int err = RefuseNewPrivileges(); err != 0) return err;
    if (int err = EnterDomain(plan_.outer_domain.get()); err != 0) return err;
    plan_.outer_domain.Reset();
    scoped_ = ProveScope(kControl);
    return 0;
  }

  // The directory that the shell's profile speaks of. We make it and we remove it: a host may die in between.
  int MakeMark() {
    const char* mark = plan_.view.mark;
    if (mark[0] == '\0') return 0;
    // EEXIST too: nobody can have guessed the name, so something is very wrong.
    if (mkdir(mark, S_IRWXU) == -1) return errno;
    mark_ = Fd(open(mark, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // The lock says that we are alive: see SweepMarks.
    if (mark_.valid() && flock(mark_.get(), LOCK_EX | LOCK_NB) == 0 &&
        mkdirat(mark_.get(), "allow", S_IRWXU) == 0)
      return 0;
    int err = errno;
    (void)rmdir(mark);
    return err;
  }

  void StartShell() {
    if (!plan_.cgroup_dir.valid() || !StartInCgroup()) {
      shell_ = fork();
      if (shell_ == -1) RefuseShell(Stage::kFork, errno);
      if (shell_ == 0) BecomeShellIn(plan_.cgroup_dir.get());
    }
    // Whoever is at the other end of these waits for the shell to close them, not for us.
    for (Fd& fd : plan_.stdio) fd.Reset();
    if (!OutputDiesWithLastClose()) plan_.slave.Reset();
    plan_.inner_domain.Reset();
    plan_.cgroup_dir.Reset();
    verdict_write_.Reset();
    gate_child_.Reset();
    started_pid_ = shell_;
    if (!plan_.view.started_means_running) ReportStart();
  }

  void Serve() {
    while (!host_gone_) {
      // A descriptor that is closed by now is negative, and poll passes over it.
      pollfd watched[5] = {{kControl, POLLIN, 0},
                           {child_events_.get(), POLLIN, 0},
                           {verdict_.get(), POLLIN, 0},
                           {GateToWatch(), POLLIN, 0},
                           {gate_.get(), POLLIN, 0}};
      if (poll(watched, 5, -1) == -1) {
        if (errno == EINTR) continue;
        return;  // EFAULT and EINVAL cannot happen; ENOMEM: end the session rather than lose track of it
      }
      // While the child is in exec, which takes longer: the host waits for both.
      if (gate_.valid() && watched[4].revents != 0) OpenGate();
      if (verdict_.valid() && watched[2].revents != 0) ReportVerdict();
      // Before anybody is reaped: a session that forks all the time keeps us busy with that.
      if (watched[0].revents != 0) ObeyHost();
      if (watched[3].revents != 0) OnGateReady();
      if (watched[1].revents != 0 && !host_gone_) Reap();
    }
  }

  // Ends every process of the session and removes what it leaves, however long that takes: a process that
  // cannot be killed now (in the middle of a system call, or another user's) is waited for.
  void End() {
    SessionKiller killer(plan_, *this, scoped_);
    uint32_t reaped_before = reaped_;
    // Before the first look, which reaps: there may be thousands to reap, and more with every moment.
    const uint32_t first = shell_ > 0 ? 1 : 0;
    if (first != 0) killer.KillRound();
    KillOutcome outcome = KillUntilEmpty(killer, [&] { return killer.GivesUp(); });
    // Without the proof there is nothing to say: a host that hears nothing reports that nobody knows.
    if (!outcome.converged) return;
    wire::Done done{first + outcome.rounds, reaped_ - reaped_before + killer.killed_strays(),
                    killer.mechanisms(), RemoveCgroup(plan_)};
    // A host that is gone does not hear it.
    if (plan_.view.temp_dir[0] != '\0') (void)SendFrame(kControl, wire::Type::kEmptied, &done, sizeof done);
    // Once nobody is left who could write to it.
    if (plan_.view.temp_dir[0] != '\0') {
      int err = RemoveTree(plan_.view.temp_dir);
      if (done.clean_err == 0) done.clean_err = err;
    }
    if (plan_.view.mark[0] != '\0') {
      int err = RemoveTree(plan_.view.mark);
      if (done.clean_err == 0) done.clean_err = err;
    }
    (void)SendFrame(kControl, wire::Type::kDone, &done, sizeof done);
  }

  // Reaps what can be reaped now, but not for ever: a session that forks faster than we reap must not keep
  // the host's word from being heard.
  bool Reap() override {
    DrainChildEvents();
    for (int reaped = 0; reaped < kReapBatch; ++reaped) {
      int status = 0;
      pid_t pid = RetryEintr([&] { return waitpid(-1, &status, WNOHANG); });
      if (pid == 0) return true;
      if (pid == -1) return false;  // ECHILD
      // A child can make us its tracer (PTRACE_TRACEME); its stops come here too, and are no end.
      if (!WIFEXITED(status) && !WIFSIGNALED(status)) continue;
      // One that was killed while vanishing was counted then.
      if (!vanishing_) ++reaped_;
      if (pid != shell_) continue;
      shell_ = 0;
      // The verdict comes first: the dead child has closed its end, so this does not wait.
      if (verdict_.valid()) ReportVerdict();
      if (!never_ran_) ReportExit(status);
    }
    OnChildEvent(0);  // come again
    return true;
  }

  // What dies hands its own children to us without any notice, so that a silent wait is no news.
  bool WaitForOne(uint32_t ms) override {
    pollfd watched{child_events_.get(), POLLIN, 0};
    return poll(&watched, 1, static_cast<int>(ms)) > 0;
  }

  pid_t shell() const override { return shell_; }

  bool LetVanish() override {
    if (shell_ > 0 || signal(SIGCHLD, SIG_IGN) == SIG_ERR) return false;
    // Those that had ended before are still there. Not for ever: a child can make us its tracer
    // (PTRACE_TRACEME), and such a one becomes a zombie all the same.
    int status = 0;
    for (int i = 0; i < kMostZombies; ++i) {
      if (RetryEintr([&] { return waitpid(-1, &status, WNOHANG); }) <= 0) break;
      if (WIFEXITED(status) || WIFSIGNALED(status)) ++reaped_;
    }
    vanishing_ = true;
    return true;
  }

 private:
  // A shell that is in its cgroup from birth. False if there is none to be had that way, or if it was dead
  // before it ran: from 6.14 on the kernel does that to the child of a process whose own cgroup was killed
  // once. An end of the verdict's pipe would then look like a program that runs.
  bool StartInCgroup() {
    shell_ = ForkIntoCgroup(plan_.cgroup_dir.get());
    if (shell_ == -1) return false;
    char born = 1;
    if (shell_ == 0) {
      if (write(verdict_write_.get(), &born, 1) != 1) _exit(1);
      BecomeShellIn(-1);
    }
    verdict_write_.Reset();
    if (RetryEintr([&] { return read(verdict_.get(), &born, 1); }) == 1) return true;
    RetryEintr([&] { return waitpid(shell_, nullptr, 0); });
    shell_ = 0;
    int ends[2];
    if (int err = OpenPipe(ends, false); err != 0) RefuseShell(Stage::kKeeper, err);
    verdict_ = Fd(ends[0]);
    verdict_write_ = Fd(ends[1]);
    return false;
  }

  // `to_join`: a cgroup, or -1.
  [[noreturn]] void BecomeShellIn(int to_join) {
    BecomeShell(plan_.view, {plan_.slave.get(),
                             verdict_write_.get(),
                             plan_.inner_domain.get(),
                             gate_child_.get(),
                             to_join,
                             {plan_.stdio[0].get(), plan_.stdio[1].get(), plan_.stdio[2].get()}});
  }

  [[noreturn]] void RefuseShell(Stage stage, int err) {
    if (plan_.view.mark[0] != '\0') (void)RemoveTree(plan_.view.mark);
    Refuse(stage, err);
  }

  // The child has sent its listener, or ended before it could. If the gate cannot be opened the listener
  // closes, the kernel refuses what would have been asked, and the session is not worth having.
  void OpenGate() {
    Fd listener;
    int err = ReceiveListener(gate_.get(), &listener);
    if (err == 0) err = StartGate(static_cast<Fd&&>(listener), RulesOf(plan_.view));
    gate_.Reset();
    // ECONNRESET: the child failed at an earlier step, which the verdict tells.
    if (err != ECONNRESET) gate_err_ = err;
  }

  static GateRules RulesOf(const PlanView& plan) {
    GateRules rules;
    rules.directories = plan.gate_directories;
    rules.sockets = plan.gate_sockets;
    rules.closed = plan.gate_closed;
    rules.inet = plan.gate_inet;
    rules.set_ids = plan.set_ids;
    rules.uid = plan.uid;
    rules.gid = plan.gid;
    rules.groups = plan.groups;
    rules.group_count = plan.group_count;
    rules.set_groups = plan.set_groups;
    rules.drop_capabilities = true;
    rules.abstract_scoped = plan.outer_domain;
    return rules;
  }

  // EOF: the pipe closed at exec, the program runs. Otherwise the child's own words.
  void ReportVerdict() {
    wire::Failed failed;
    ssize_t got = RetryEintr([&] { return read(verdict_.get(), &failed, sizeof failed); });
    // The listener was sent before exec: if it was not seen yet it is there, if it was sent at all.
    if (gate_.valid()) OpenGate();
    if (got == 0 && gate_err_ != 0) {
      failed = {Stage::kGate, 0, gate_err_, 0, {}};
      got = sizeof failed;
      if (shell_ > 0) kill(shell_, SIGKILL);
    }
    // Only an end of file means that exec happened. Anything else that is no verdict is a failure of ours.
    if (got != 0 && got != ssize_t{sizeof failed})
      failed = {Stage::kKeeper, 0, got == -1 ? errno : EPROTO, 0, {}};
    verdict_.Reset();
    never_ran_ = got != 0;
    if (never_ran_) {
      if (SendFrame(kControl, wire::Type::kFailed, &failed, sizeof failed) != 0) host_gone_ = true;
    } else if (plan_.view.started_means_running) {
      ReportStart();
    }
  }

  void ReportStart() {
    wire::Started started{started_pid_, scoped_ ? 1U : 0U};
    if (SendFrame(kControl, wire::Type::kStarted, &started, sizeof started) != 0) host_gone_ = true;
  }

  void ReportExit(int status) {
    wire::Exited exited{};
    if (WIFSIGNALED(status)) {
      exited.signal = WTERMSIG(status);
    } else {
      exited.code = WEXITSTATUS(status);
    }
    if (SendFrame(kControl, wire::Type::kExited, &exited, sizeof exited) != 0) host_gone_ = true;
  }

  void ObeyHost() {
    int number = ReceiveSignal(kControl);
    if (number == 0) {
      host_gone_ = true;
    } else if (shell_ > 0) {
      // Only we reap the shell, so its number is still its own. An error (an unknown signal, a shell that
      // changed its uid) is node-pty's silent case.
      kill(shell_, number);
    }
  }

  void DrainChildEvents() {
    char bytes[256];
    while (RetryEintr([&] { return read(child_events_.get(), bytes, sizeof bytes); }) > 0) {
    }
  }

  ReceivedPlan plan_;
  Fd mark_;  // locked
  Fd gate_;
  Fd gate_child_;
  Fd child_events_;
  Fd verdict_;
  Fd verdict_write_;
  pid_t shell_ = 0;  // 0 once it was reaped
  pid_t started_pid_ = 0;
  uint32_t reaped_ = 0;
  bool vanishing_ = false;  // see LetVanish
  bool scoped_ = false;     // kill(-1) reaches the session and nobody else
  int gate_err_ = 0;
  bool never_ran_ = false;
  bool host_gone_ = false;
};

int Main() {
  // Whatever the host forgot to mark close-on-exec is not ours, and holding it could keep a pipe of the
  // user's open.
  if (int err = CloseFrom(kControl + 1); err != 0) Refuse(Stage::kDescriptors, err);
  // Nor is the host's directory: a keeper that outlives its host must not keep a file system busy.
  if (chdir("/") == -1) Refuse(Stage::kCwd, errno);
  Reserved noted;
  reserved = &noted;
  ReceivedPlan plan;
  if (int err = ReceivePlan(kControl, &noted, &plan); err != 0) {
    if (err != ECONNRESET) Refuse(Stage::kPlan, err);
    RemoveReserved();
    return 0;
  }
  if (plan.probe) {
    wire::Features features = ProbeFeatures();
    return SendFrame(kControl, wire::Type::kFeatures, &features, sizeof features) == 0 ? 0 : 1;
  }
  const bool took_time = CompleteRules(&plan);
  if (int err = BecomeSubreaper(); err != 0) Refuse(Stage::kSubreaper, err);
  Keeper keeper(static_cast<ReceivedPlan&&>(plan));
  if (int err = keeper.Prepare(); err != 0) Refuse(Stage::kKeeper, err);
  if (int err = keeper.EnterOuterDomain(); err != 0) Refuse(Stage::kOuterDomain, err);
  if (int err = keeper.MakeMark(); err != 0) Refuse(Stage::kMark, err);
  if (took_time) (void)LookForHost(nullptr);
  keeper.StartShell();
  keeper.Serve();
  keeper.End();
  return 0;
}

}  // namespace
}  // namespace spty

int main() { return spty::Main(); }
