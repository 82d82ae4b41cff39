#include "session/disposer.h"

#include <iterator>

#include "base/block_signals.h"
#include "session/session.h"
#include "settings/json_writer.h"

namespace spty {
namespace {

// The keeper tells us when it is done; this is for what nobody tells, like a cgroup whose keeper was killed.
constexpr auto kTick = std::chrono::milliseconds(5);

constexpr char kKeeperKilled[] = "the keeper of this session was ended by somebody else";
constexpr char kKeeperStopped[] = "the keeper of this session was held by somebody else, and had to be ended";

constexpr char kStillRemoving[] =
    "nobody is left, but the private temporary directory could not be removed in time";

std::string NotRemoved(int err) {
  return err == 0 ? "" : "not everything could be removed: " + ErrnoName(err);
}

void AddMechanisms(uint32_t bits, std::vector<std::string>& names) {
  if ((bits & wire::kByCgroup) != 0) names.emplace_back("cgroup");
  if ((bits & wire::kByScope) != 0) names.emplace_back("landlock-scope");
  if ((bits & wire::kByWalk) != 0) names.emplace_back("subreaper");
  if ((bits & wire::kByMark) != 0) names.emplace_back("seatbelt-mark");
}

void WriteProcess(JsonWriter& out, const ProcessInfo& process) {
  out.BeginObject().Key("pid").Integer(static_cast<uint64_t>(process.pid));
  out.Key("name").String(process.name).Key("state").String(std::string_view(&process.state, 1)).EndObject();
}

}  // namespace

std::string DisposeReportToJson(const DisposeReport& report) {
  JsonWriter out;
  out.BeginObject().Key("converged").Bool(report.converged).Key("rounds").Integer(report.rounds);
  out.Key("killed").Integer(report.killed).Key("survivors").BeginArray();
  for (const ProcessInfo& process : report.survivors) WriteProcess(out, process);
  out.EndArray().Key("elapsedMs").Number(report.elapsed_ms).Key("mechanisms").BeginArray();
  for (const std::string& mechanism : report.mechanisms) out.String(mechanism);
  out.EndArray();
  if (!report.problem.empty()) out.Key("problem").String(report.problem);
  out.EndObject();
  return out.Take();
}

DisposeReport LossReport(bool ended) {
  DisposeReport report;
  report.converged = ended;
  if (ended) report.mechanisms.emplace_back("cgroup");
  report.problem = kKeeperKilled;
  return report;
}

Result<void> Disposer::Add(std::shared_ptr<Session> session, const DisposeOptions& options, Done done) {
  Disposal disposal;
  disposal.options = options;
  disposal.done = std::move(done);
  disposal.began = Clock::now();
  disposal.grace_ends = disposal.began + options.grace;
  session->SetEndListener([this] { Wake(); });
  if (options.grace.count() > 0) {
    session->Signal(options.signal);
  } else {
    disposal.ending = true;
    disposal.deadline = disposal.began + options.deadline;
  }
  disposal.session = std::move(session);
  std::unique_lock lock(mutex_);
  if (!running_) {
    if (auto started = StartThread(); !started.ok()) {
      lock.unlock();  // the listener is called with the session's lock held, and takes ours
      disposal.session->SetEndListener(nullptr);
      disposal.session->EndNow();
      return started;
    }
  }
  const std::shared_ptr<Session> ending = disposal.ending ? disposal.session : nullptr;
  waiting_.push_back(std::move(disposal));
  woken_ = true;
  changed_.notify_one();
  lock.unlock();
  // From here: on a busy machine our thread may have to wait for its turn. And only now: to start a thread
  // takes long while the kernel ends many processes.
  if (ending != nullptr) ending->EndNow();
  return {};
}

Result<void> Disposer::StartThread() {
  // It has nothing left to do but to return.
  if (std::exchange(started_, false)) pthread_join(thread_, nullptr);
  const BlockAllSignals block;
  const auto run = [](void* disposer) -> void* {
    static_cast<Disposer*>(disposer)->Run();
    return nullptr;
  };
  if (int err = pthread_create(&thread_, nullptr, run, this); err != 0)
    return Error{Stage::kPump, err, "pthread_create"};
  running_ = started_ = true;
  return {};
}

void Disposer::Wake() {
  std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

void Disposer::Abort() {
  std::vector<Disposal> abandoned;
  {
    std::lock_guard lock(mutex_);
    aborted_ = true;
    woken_ = true;
    abandoned.swap(waiting_);
    changed_.notify_one();
  }
  for (Disposal& disposal : abandoned) {
    disposal.session->SetEndListener(nullptr);
    disposal.session->EndNow();
  }
  if (std::exchange(started_, false)) pthread_join(thread_, nullptr);
}

void Disposer::Run() {
  std::vector<Disposal> active;
  std::unique_lock lock(mutex_);
  for (;;) {
    std::move(waiting_.begin(), waiting_.end(), std::back_inserter(active));
    waiting_.clear();
    if (active.empty() || aborted_) break;
    woken_ = false;
    lock.unlock();
    for (size_t i = 0; i < active.size();) {
      DisposeReport report;
      if (!Step(active[i], &report)) {
        ++i;
        continue;
      }
      active[i].session->SetEndListener(nullptr);
      active[i].done(std::move(report));
      active.erase(active.begin() + static_cast<ptrdiff_t>(i));
    }
    lock.lock();
    if (!active.empty()) changed_.wait_for(lock, kTick, [&] { return woken_ || aborted_; });
  }
  running_ = false;
  lock.unlock();
  for (Disposal& disposal : active) {
    disposal.session->SetEndListener(nullptr);
    disposal.session->EndNow();
  }
}

bool Disposer::Step(Disposal& disposal, DisposeReport* report) {
  Session& session = *disposal.session;
  const auto now = Clock::now();
  if (!disposal.ending) {
    if (now < disposal.grace_ends && !session.shell_ended()) return false;
    disposal.ending = true;
    disposal.deadline = now + disposal.options.deadline;
    session.EndNow();
  }
  const Session::Proof proof = session.ProveEmpty();
  if (proof == Session::Proof::kPending && now < disposal.deadline) return false;
  *report = Summary(disposal, proof == Session::Proof::kEmpty || session.emptied());
  return true;
}

DisposeReport Disposer::Summary(const Disposal& disposal, bool converged) {
  Session& session = *disposal.session;
  DisposeReport report;
  report.converged = converged;
  const std::optional<wire::Done> done = session.done();
  const std::optional<wire::Done> told = done ? done : session.emptied();
  if (told) {
    report.rounds = told->rounds;
    report.killed = told->reaped;
    AddMechanisms(told->mechanisms, report.mechanisms);
  }
  if (done) {
    report.problem = NotRemoved(done->clean_err);
  } else if (session.keeper_gone()) {
    report.problem = session.keeper_killed() ? kKeeperStopped : kKeeperKilled;
    if (session.clean_err() != 0) report.problem += "; " + NotRemoved(session.clean_err());
    if (!told && session.has_cgroup()) report.mechanisms.emplace_back("cgroup");
  } else if (told) {
    report.problem = kStillRemoving;
  }
  if (!converged) {
    ProcessReader reader(ProcessReader::Keep::kNothing);
    report.survivors = session.Members(reader);
  }
  report.elapsed_ms = std::chrono::duration<double, std::milli>(Clock::now() - disposal.began).count();
  return report;
}

}  // namespace spty
