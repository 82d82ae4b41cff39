// The start of a session: waited for, or told of later.
#include <signal.h>

#include <cerrno>

#include "session/late_failure.h"
#include "session/session.h"

namespace spty {
namespace {

// How long to wait for a keeper to tell of its start, and for how long at a time.
constexpr auto kStartPatience = std::chrono::seconds(10);
constexpr auto kStartSlice = std::chrono::milliseconds(50);

}  // namespace

// The keeper comes before whatever it has to know of, and after everything else: one that has to wait for its
// plan falls asleep, and has to be woken.
Result<std::shared_ptr<Session>> Session::Spawn(const SpawnRequest& request, Pump& pump, Client* client) {
  TRY_ASSIGN(Enforcement enforcement, DecideEnforcement(request));
  TRY_ASSIGN(PtyPair pty, OpenPtyPair(request.size, request.utf8));
  TRY_ASSIGN(KeeperProcess keeper, KeeperProcess::Start(request.keeper_path));
  return Spawn(request, std::move(enforcement), std::move(pty), std::move(keeper), pump, client);
}

Result<std::shared_ptr<Session>> Session::Spawn(const SpawnRequest& request, PreparedKeeper prepared,
                                                Pump& pump, Client* client) {
  if (request.policy != nullptr) TRY(VerifyTemp(prepared, *request.policy));
  TRY_ASSIGN(Enforcement enforcement, DecideEnforcement(request));
  TRY_ASSIGN(PtyPair pty, OpenPtyPair(request.size, request.utf8));
  return Spawn(request, std::move(enforcement), std::move(pty), std::move(prepared.process), pump, client);
}

Result<std::shared_ptr<Session>> Session::Spawn(const SpawnRequest& request, Enforcement enforcement,
                                                PtyPair pty, KeeperProcess keeper, Pump& pump,
                                                Client* client) {
  TRY_ASSIGN(SessionPlan plan, MakeSessionPlan(request, enforcement, std::move(pty.slave), keeper));
  auto session = std::make_shared<Session>(std::move(pty), std::move(keeper), pump);
  session->enforcement_ = std::move(enforcement);
  session->keep_alive_ = request.keep_alive_after_exit;
  if (session->keep_alive_) session->terminal_.DiscardAfterEnd();
  session->temp_dir_ = request.temp_dir;
  TRY(session->HandOver(request, std::move(plan)));
  TRY(session->Watch());
  // Nobody needs to wake the pump for that: the keeper's first word does, if it comes.
  if (!session->start_known()) pump.PostWithin(kStartSlice, [session] { session->ExpectStart(); });
  // Only now, so that a client whose session never came to be hears nothing. What happened meanwhile is not
  // lost: the first call tells the client to look.
  session->Attach(client);
  return session;
}

// Hands over the plan. Whoever waits for the program learns here what became of it; all others go on, as the
// keeper's first word then only tells the pid: keeper and child have to get their turn for it, on a busy
// machine many milliseconds each, and a host that starts many sessions does not have to watch that.
Result<void> Session::HandOver(const SpawnRequest& request, SessionPlan plan) {
  const std::vector<int> fds = plan.Descriptors();
  auto sent = keeper_.SendPlan(plan.encoded, fds);
  // Only the shell may hold the slave from here on: its last close is how the kernel tells us of its end.
  plan.slave.Reset();
  cgroup_ = std::move(plan.cgroup);
  if (cgroup_) cgroup_->ForgetDirectory();
  no_cgroup_ = std::move(plan.no_cgroup);
  mark_ = std::move(plan.mark);
  expects_scope_ = plan.outer_domain.valid();
  if (!sent.ok() && sent.error().err != EPIPE && sent.error().err != ECONNRESET) return sent;
  StartSubjects subjects(request, std::move(plan.candidates));
  if (sent.ok() && !plan.wait_for_exec) {
    // spawn()'s line is node-pty's to the letter, which names nothing.
    if (request.wait_for_exec) late_subjects_ = std::move(subjects);
    return {};
  }
  auto answer = keeper_.Await();
  // A keeper that refused before it got the plan has said why; that is better than "broken pipe".
  if (!answer.ok()) return sent.ok() ? answer.error() : sent.error();
  const Frame& started = answer.value();
  if (started.type == wire::Type::kFailed) return ToError(started.failed, subjects);
  if (started.type != wire::Type::kStarted) return Error{Stage::kKeeper, EPROTO, "no pid from the keeper"};
  NoteStart(started.started);
  return {};
}

void Session::NoteStart(const wire::Started& started) {
  std::lock_guard lock(start_mutex_);
  scoped_ = started.scoped != 0;
  if (!start_) start_ = pid_t{started.pid};
  start_known_.notify_all();
}

bool Session::NoteNoStart(const Error& error) {
  std::lock_guard lock(start_mutex_);
  if (start_) return false;
  start_ = error;
  start_known_.notify_all();
  return true;
}

Result<pid_t> Session::Pid() {
  std::unique_lock lock(start_mutex_);
  start_known_.wait(lock, [&] { return start_.has_value(); });
  return *start_;
}

bool Session::start_known() {
  std::lock_guard lock(start_mutex_);
  return start_.has_value();
}

bool Session::scope_known() {
  std::lock_guard lock(start_mutex_);
  return !expects_scope_ || (start_ && start_->ok());
}

bool Session::found_weak() {
  if (!expects_scope_ || killed_by_cgroup()) return false;
  std::lock_guard lock(start_mutex_);
  return start_ && start_->ok() && !scoped_;
}

void Session::ExpectStart() {
  if (start_known()) return;
  const auto now = Clock::now();
  start_by_ = now + kStartPatience;
  pump_.SetDeadline(control_token_, now + kStartSlice);
}

// It is at work, as in a directory of a million entries.
void Session::ProlongStart() { start_by_ = Clock::now() + kStartPatience; }

// The keeper's own shell may have stopped it before it could tell of that; or it is no keeper at all.
void Session::UrgeStart() {
  keeper_.SignalKeeper(SIGCONT);
  const auto now = Clock::now();
  if (now < start_by_) return pump_.SetDeadline(control_token_, now + kStartSlice);
  if (NoteNoStart(Error{Stage::kKeeper, ETIMEDOUT, "the keeper does not answer"}))
    ShowFailure(Error{Stage::kKeeper, ETIMEDOUT, ""});
}

void Session::HandleFailure(const wire::Failed& failed) {
  const Error error =
      late_subjects_ ? ToError(failed, *late_subjects_) : Error{failed.stage, failed.err, TextOf(failed)};
  if (NoteNoStart(error)) {
    // It has not even made a process, has removed what was made for it, and ends without another word.
    std::lock_guard lock(end_mutex_);
    done_ = wire::Done{};
  }
  ShowFailure(error);
}

// As node-pty does it.
void Session::ShowFailure(const Error& error) {
  // Closed before the child got as far as its terminal: it would have died of that a moment later.
  if (hung_up_) return ShellEnded(End{0, SIGHUP});
  // Ended before there was a child: as if there had been one.
  if (error.stage == Stage::kFork && error.err == ECANCELED) return ShellEnded(End{0, SIGKILL});
  terminal_.Inject(LateFailureText(error));
  ShellEnded(End{1, 0});
}

}  // namespace spty
