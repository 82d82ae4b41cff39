#include "session/session.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "session/foreground.h"

namespace spty {
namespace {

constexpr int kLastSignal = 64;

// Waits for a file of the session's cgroup to change.
class LimitWatch final : public Pump::Source {
 public:
  explicit LimitWatch(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  void OnReady() override { session_->LookAtLimits(); }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace

Session::Session(PtyPair pty, KeeperProcess keeper, Pump& pump)
    : slave_name_(std::move(pty.slave_name)),
      terminal_(std::move(pty.master), pump, *this),
      keeper_(std::move(keeper)),
      pump_(pump) {}

Result<void> Session::Watch() {
  TRY(terminal_.Start(SharedTerminal()));
  // The keeper last: who hears that it is gone lets go of the others.
  auto watched = WatchLimits();
  if (watched.ok()) watched = pump_.Add(keeper_.control(), shared_from_this(), &control_token_);
  if (watched.ok()) return watched;
  pump_.Post([self = shared_from_this()] { self->ForgetLimits(); });
  Release();
  return watched;
}

Result<void> Session::WatchLimits() {
  if (!cgroup_) return {};
  const std::pair<int, Pump::Token*> files[] = {{cgroup_->pids_events(), &pids_token_},
                                                {cgroup_->memory_events(), &memory_token_}};
  for (const auto& [fd, token] : files) {
    if (fd >= 0) TRY(pump_.Add(fd, std::make_shared<LimitWatch>(shared_from_this()), token));
  }
  return {};
}

void Session::ForgetLimits() {
  for (Pump::Token token : {pids_token_, memory_token_}) {
    if (token != 0) pump_.Remove(token);
  }
}

void Session::LookAtLimits() {
  if (!cgroup_ || (cgroup_->pids_events() < 0 && cgroup_->memory_events() < 0)) return;
  const LimitHits now = cgroup_->Hits();
  {
    std::lock_guard lock(hits_mutex_);
    // A cgroup that is gone has no files to read: what was seen stays.
    hits_.processes = std::max(hits_.processes, now.processes);
    hits_.memory = std::max(hits_.memory, now.memory);
  }
  if (has_hits()) Tell();
}

LimitHits Session::TakeHits() {
  std::lock_guard lock(hits_mutex_);
  const LimitHits fresh{hits_.processes - taken_hits_.processes, hits_.memory - taken_hits_.memory};
  taken_hits_ = hits_;
  return fresh;
}

bool Session::has_hits() const {
  std::lock_guard lock(hits_mutex_);
  return hits_.processes > taken_hits_.processes || hits_.memory > taken_hits_.memory;
}

void Session::Attach(Client* client) {
  std::lock_guard lock(client_mutex_);
  client_ = client;
  client_->OnActivity();
}

std::shared_ptr<TerminalIo> Session::SharedTerminal() { return {shared_from_this(), &terminal_}; }

OutputQueue::Taken Session::TakeOutput() { return terminal_.TakeOutput(SharedTerminal()); }

std::optional<Session::End> Session::TakeEnd() {
  std::lock_guard lock(end_mutex_);
  if (!output_complete_ || terminal_.has_output()) return std::nullopt;
  return end_;
}

bool Session::HasEnd() {
  std::lock_guard lock(end_mutex_);
  return output_complete_ && end_.has_value() && !terminal_.has_output();
}

Result<void> Session::Resize(const WindowSize& size) {
  if (terminal_.fd() == -1) return Error{Stage::kResize, EBADF, ""};
  return SetWindowSize(terminal_.fd(), size);
}

bool Session::Signal(int number) {
  if (number < 1 || number > kLastSignal) return false;
  {
    std::lock_guard lock(end_mutex_);
    if (end_) return false;
  }
  return keeper_.SendSignal(number);
}

std::string Session::ForegroundProgram() const {
  if (terminal_.fd() == -1) return "";
  std::string program = spty::ForegroundProgram(terminal_.fd());
  // Between fork and exec the child still has the keeper's name.
  return program == wire::kKeeperName ? "" : program;
}

void Session::HangUp() {
  if (terminal_.fd() == -1) return;
  hung_up_ = true;
  terminal_.Detach(SharedTerminal());
  {
    std::lock_guard lock(end_mutex_);
    output_complete_ = true;
  }
  // The kernel sends SIGHUP to the foreground group; a shell that has lost its terminal would miss that one.
  Signal(SIGHUP);
}

void Session::Release() {
  {
    std::lock_guard lock(client_mutex_);
    client_ = nullptr;
  }
  EndNow();
  terminal_.Detach(SharedTerminal());
}

bool Session::shell_ended() const {
  std::lock_guard lock(end_mutex_);
  return end_.has_value();
}

bool Session::keeper_gone() const {
  std::lock_guard lock(end_mutex_);
  return keeper_gone_;
}

bool Session::keeper_lost() const {
  std::lock_guard lock(end_mutex_);
  return keeper_gone_ && !done_;
}

bool Session::keeper_killed() const {
  std::lock_guard lock(end_mutex_);
  return keeper_killed_;
}

std::optional<wire::Done> Session::done() const {
  std::lock_guard lock(end_mutex_);
  return done_;
}

std::optional<wire::Done> Session::emptied() const {
  std::lock_guard lock(end_mutex_);
  return emptied_;
}

std::vector<ProcessInfo> Session::Members(ProcessReader& reader) const {
  std::vector<ProcessInfo> members;
  reader.Begin();
  {
    std::lock_guard lock(end_mutex_);
    if (!keeper_gone_) members = reader.DescendantsOf(keeper_.pid());
  }
  std::set<pid_t> known;
  for (const ProcessInfo& member : members) known.insert(member.pid);
  // Each knows of some that the other does not: orphans in the moment before they are the keeper's, or those
  // in a cgroup of their own.
  const auto add = [&](pid_t pid) {
    if (!known.insert(pid).second) return;
    if (auto process = reader.Read(pid)) members.push_back(std::move(*process));
  };
  if (cgroup_) std::ranges::for_each(cgroup_->Members(), add);
  std::ranges::for_each(MarkedProcesses(mark_), add);
  return members;
}

void Session::SetEndListener(std::function<void()> listener) {
  std::lock_guard lock(client_mutex_);
  end_listener_ = std::move(listener);
}

void Session::TellEnd() {
  std::lock_guard lock(client_mutex_);
  if (end_listener_) end_listener_();
}

void Session::Tell() {
  std::lock_guard lock(client_mutex_);
  if (client_ != nullptr) client_->OnActivity();
}

void Session::OnReady() {
  if (keeper_gone()) return;
  for (;;) {
    Frame frame;
    auto status = keeper_.frames().Next(keeper_.control(), &frame);
    if (status.ok() && status.value() == FrameReader::Status::kNothing) return;
    if (!status.ok()) return HandleKeeperGone(status.error());
    if (status.value() == FrameReader::Status::kClosed)
      return HandleKeeperGone(Error{Stage::kKeeper, ECONNRESET, "the keeper ended unexpectedly"});
    HandleFrame(frame);
  }
}

void Session::HandleFrame(const Frame& frame) {
  switch (frame.type) {
    case wire::Type::kExited:
      return ShellEnded(End{frame.exited.code, frame.exited.signal});
    case wire::Type::kStarted:
      NoteStart(frame.started);
      if (!expects_end_) pump_.SetDeadline(control_token_, std::nullopt);
      if (found_weak()) Tell();
      return;
    case wire::Type::kWorking:
      return ProlongStart();
    case wire::Type::kFailed:
      return HandleFailure(frame.failed);
    case wire::Type::kDone: {
      std::lock_guard lock(end_mutex_);
      done_ = frame.done;
      return;
    }
    case wire::Type::kEmptied: {
      std::lock_guard lock(end_mutex_);
      emptied_ = frame.done;
      return;
    }
    default:
      return;
  }
}

void Session::OnOutput() { Tell(); }

void Session::OnOutputEnd() {
  {
    std::lock_guard lock(end_mutex_);
    output_complete_ = true;
  }
  Tell();
}

void Session::OnInputFlushed() {
  input_flushed_ = true;
  Tell();
}

}  // namespace spty
