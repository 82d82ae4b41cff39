// The end of a session: asked for, by itself, or because its keeper is lost.
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "session/background_removal.h"
#include "session/session.h"
#include "track/remove_tree.h"

namespace spty {
namespace {

// After that a keeper that was told to end its session, and has not, is looked after.
constexpr auto kFirstLook = std::chrono::milliseconds(100);
// From then on a keeper that is stopped is no use any more.
constexpr auto kStoppedPatience = std::chrono::milliseconds(500);
constexpr auto kLongestPause = std::chrono::milliseconds(500);
// A keeper that has closed its end is a few instructions from being a zombie; but whoever traces it can keep
// that from us.
constexpr auto kFirstReapPause = std::chrono::milliseconds(1);
constexpr auto kLastReapPause = std::chrono::milliseconds(64);
// How often the removal of an empty cgroup is tried.
constexpr int kRemovals = 50;
// At a cgroup that is being killed, when nobody can come back for it.
constexpr int kLastLooks = 50;

void Pause() {
  constexpr timespec kPause{0, 1'000'000};
  nanosleep(&kPause, nullptr);
}

}  // namespace

Session::~Session() {
  keeper_.EndSession();
  while (!keeper_.TryReap() &&
         KeeperProcess::Clock::now() < keeper_.ended_at() + KeeperProcess::kEndPatience) {
    UrgeKeeper();
    Pause();
  }
  // A keeper that was killed has left them to us.
  for (int look = 0; look < kLastLooks && cgroup_ && !done(); ++look) {
    const auto empty = cgroup_->Empty();
    if (!empty.ok() || empty.value() || !cgroup_->Kill().ok()) return;
    Pause();
  }
}

void Session::EndNow() {
  if (keeper_.EndSession()) pump_.Post([self = shared_from_this()] { self->ExpectEnd(); });
}

Session::Proof Session::ProveEmpty() {
  bool emptied = false;
  {
    std::lock_guard lock(end_mutex_);
    if (done_) return Proof::kEmpty;
    emptied = emptied_.has_value();
    if (!keeper_gone_ || (!emptied && !cgroup_)) return Proof::kPending;
  }
  std::lock_guard lock(cgroup_mutex_);
  if (settled_) return Proof::kEmpty;
  // Nobody reaps for us any more, but the kernel knows who is in the cgroup. A keeper that was killed later,
  // in the middle of its cleaning up, has removed that.
  if (!emptied && !ProveByCgroup()) return Proof::kPending;
  // Only now that nobody is left who could write to it. Where there is no thread for it: next time.
  if (!temp_dir_.empty()) {
    if (removal_ == nullptr) RemoveTempDir();
    if (removal_ == nullptr || !removal_->over) return Proof::kPending;
    if (const int err = removal_->err; err != 0) clean_err_ = err;
  }
  settled_ = true;
  *loss_ = Loss::kEnded;
  return Proof::kEmpty;
}

bool Session::ProveByCgroup() {
  const auto empty = cgroup_->Empty();
  if (!empty.ok() || !empty.value()) {
    (void)cgroup_->Kill();
    return false;
  }
  const auto removed = cgroup_->TryRemove();
  // The last one may still be on its way out of the kernel: then next time.
  if (!removed.ok() && removed.error().err == EBUSY && ++removals_ < kRemovals) return false;
  if (!removed.ok()) clean_err_ = removed.error().err;
  return true;
}

void Session::RemoveTempDir() {
  auto removal = std::make_shared<Removal>();
  const auto done = [removal](int err) {
    removal->err = err;
    removal->over = true;
  };
  if (RunRemoval([path = temp_dir_] { return RemoveTree(path.c_str()); }, done).ok()) removal_ = removal;
}

void Session::ShellEnded(End end) {
  {
    std::lock_guard lock(end_mutex_);
    if (end_) return;
    end_ = end;
  }
  // Who asks for the pid now is not to wait for it.
  (void)NoteNoStart(Error{Stage::kKeeper, EPROTO, "no pid from the keeper"});
  // A limit may be what ended it; whoever hears of the end has heard of that.
  LookAtLimits();
  terminal_.Finish();
  TellEnd();
  // Nothing to finish if the terminal was hung up before.
  Tell();
  // Whatever the shell left running ends with it, unless it was asked for. After the news: the keeper that
  // wakes up may take our processor, and the host would wait for it.
  if (!keep_alive_) EndNow();
}

// After an ordinary end the keeper closes last. If there was none, somebody killed the keeper (or it talks
// nonsense): we cannot know how the shell fares, so it is hung up like any terminal whose other side
// vanished, and that is what we report.
// One that has not even told of its start has failed to, as far as anybody can tell.
void Session::HandleKeeperGone(const Error& reason) {
  auto self = shared_from_this();
  {
    std::lock_guard lock(end_mutex_);
    keeper_gone_ = true;
  }
  const bool lost = !done();
  if (lost) *loss_ = Loss::kUnknown;
  if (NoteNoStart(reason)) ShowFailure(Error{reason.stage, reason.err, ""});
  ShellEnded(End{0, SIGHUP});
  keeper_.EndSession();
  ForgetLimits();
  if (lost) TellEnd();
  pause_ = kFirstReapPause;
  Settle();
}

// The keeper was told to end the session. Most have done it before the first look.
void Session::ExpectEnd() {
  if (keeper_gone()) return;
  expects_end_ = true;
  pause_ = kFirstLook;
  pump_.SetDeadline(control_token_, Clock::now() + pause_);
}

void Session::OnDeadline() {
  auto self = shared_from_this();
  if (keeper_gone()) return Settle();
  // Also of a session that is being ended: who asks for its pid waits for this.
  if (!start_known()) UrgeStart();
  if (!expects_end_) return;
  UrgeKeeper();
  pause_ = std::min(pause_ * 2, kLongestPause);
  pump_.SetDeadline(control_token_, Clock::now() + pause_);
}

// A session that is not confined can stop its keeper, and trace it. What the keeper would do is done from
// here as far as it can be; then whoever stopped it is dead, and it goes on by itself.
void Session::UrgeKeeper() {
  const auto late = KeeperProcess::Clock::now() - keeper_.ended_at();
  const pid_t keeper = keeper_.pid();
  if (late < kFirstLook || keeper == 0) return;
  const auto process = ReadProcess(keeper);
  const bool stopped = process && (process->state == 'T' || process->state == 't');
  keeper_.SignalKeeper(SIGCONT);
  if (cgroup_) (void)cgroup_->Kill();
  if (!stopped || KillDescendantsOf(keeper) > 0) return;
  // Somebody outside of the session holds it. Where the cgroup proves the rest, it is not needed any more;
  // where there is none, nobody else could ever tell that nobody is left.
  if (!cgroup_ || late < kStoppedPatience) return;
  const auto empty = cgroup_->Empty();
  if (!empty.ok() || !empty.value()) return;
  {
    std::lock_guard lock(end_mutex_);
    keeper_killed_ = true;
  }
  keeper_.SignalKeeper(SIGKILL);
}

// Whether there is no means to learn more about the session than is known by now.
bool Session::NothingToProve() const { return done() || (!cgroup_ && mark_.empty()); }

// The keeper is gone. Reaps it, and ends by other means what it has left: those in the cgroup are dead in a
// moment. The pump comes back for that, and holds us until then.
void Session::Settle() {
  bool reaped = keeper_.TryReap();
  if (!reaped && pause_ > kLastReapPause) {
    keeper_.ReapLater();
    reaped = true;
  }
  // Whoever can be seen by the mark is killed as well; that nobody was missed only a keeper could prove.
  const bool ended = NothingToProve() || (cgroup_ ? ProveEmpty() == Proof::kEmpty : KillMarked(mark_) == 0);
  if (reaped && ended) {
    pump_.Remove(control_token_);
    TellEnd();
    return;
  }
  pump_.SetDeadline(control_token_, Clock::now() + pause_);
  pause_ = std::min(pause_ * 2, kLongestPause);
}

}  // namespace spty
