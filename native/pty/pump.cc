#include "pty/pump.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/block_signals.h"

namespace spty {
namespace {

std::mutex pump_mutex;
std::weak_ptr<Pump> process_pump;

}  // namespace

Result<std::shared_ptr<Pump>> Pump::Acquire() {
  std::lock_guard lock(pump_mutex);
  if (auto pump = process_pump.lock()) return pump;
  TRY_ASSIGN(Poller poller, Poller::Create());
  std::shared_ptr<Pump> pump(new Pump(std::move(poller)));
  TRY(pump->Start());
  process_pump = pump;
  return pump;
}

Pump::Pump(Poller poller) : poller_(std::move(poller)) {}

// Not std::thread: that one throws when the system has no thread to give.
Result<void> Pump::Start() {
  BlockAllSignals block;
  auto run = [](void* pump) -> void* {
    static_cast<Pump*>(pump)->Loop();
    return nullptr;
  };
  int err = pthread_create(&thread_, nullptr, run, this);
  if (err != 0) return Error{Stage::kPump, err, "pthread_create"};
  started_ = true;
  return {};
}

Pump::~Pump() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (!started_) return;
  poller_.Wake();
  pthread_join(thread_, nullptr);
}

void Pump::Post(std::function<void()> task) {
  bool wake;
  {
    std::lock_guard lock(mutex_);
    wake = !std::exchange(woken_, true);
    posted_.push_back(std::move(task));
  }
  if (wake) poller_.Wake();
}

void Pump::PostWithin(Clock::duration time, std::function<void()> task) {
  const Clock::time_point when = Clock::now() + time;
  std::lock_guard lock(mutex_);
  posted_.push_back(std::move(task));
  if (woken_ || (wake_at_ && *wake_at_ <= when)) return;
  wake_at_ = when;
  // Under the lock, so that nobody takes it back who has not seen the task.
  poller_.WakeIn(time);
}

void Pump::Run(std::function<void()> task) {
  std::mutex done_mutex;
  std::condition_variable done_signal;
  bool done = false;
  Post([&] {
    task();
    std::lock_guard lock(done_mutex);
    done = true;
    done_signal.notify_one();
  });
  std::unique_lock lock(done_mutex);
  done_signal.wait(lock, [&] { return done; });
}

Result<void> Pump::Add(int fd, std::shared_ptr<Source> source, Token* token) {
  std::lock_guard lock(mutex_);
  *token = next_token_++;
  entries_.emplace(*token, Entry{fd, std::move(source), std::nullopt});
  // Under the lock: an event that arrives at once waits for it in Find.
  auto added = poller_.Add(fd, *token);
  if (!added.ok()) entries_.erase(*token);
  return added;
}

void Pump::WatchWrites(Token token, bool wanted) {
  // Under the lock, so that the descriptor is still the source's.
  std::lock_guard lock(mutex_);
  auto entry = entries_.find(token);
  if (entry != entries_.end()) poller_.WatchWrites(entry->second.fd, token, wanted);
}

void Pump::Remove(Token token) {
  // Destroyed after the lock is released: a source's destructor may call back into the pump.
  std::shared_ptr<Source> source;
  std::lock_guard lock(mutex_);
  auto entry = entries_.find(token);
  if (entry == entries_.end()) return;
  SetDeadlineLocked(&entry->second, std::nullopt);
  poller_.Remove(entry->second.fd);
  source = std::move(entry->second.source);
  entries_.erase(entry);
}

void Pump::SetDeadline(Token token, std::optional<Clock::time_point> when) {
  std::lock_guard lock(mutex_);
  auto entry = entries_.find(token);
  if (entry != entries_.end()) SetDeadlineLocked(&entry->second, when);
}

void Pump::SetDeadlineLocked(Entry* entry, std::optional<Clock::time_point> when) {
  deadlines_ += when.has_value();
  deadlines_ -= entry->deadline.has_value();
  entry->deadline = when;
}

void Pump::Loop() {
  while (RunPosted()) {
    auto events = poller_.Wait(again_.empty() ? NextDeadline() : Clock::time_point::min());
    if (!events.ok()) {
      // EBADF or EFAULT: somebody closed our descriptor or wrote over our memory. Going on would hang every
      // terminal silently.
      fprintf(stderr, "sandboxed-pty: the I/O thread cannot wait: %s\n", Describe(events.error()).c_str());
      abort();
    }
    crowded_ = events.value().size() > 1;
    for (const Poller::Event& event : events.value()) {
      // Null if an earlier event of this batch removed it.
      if (auto source = Find(event.token)) source->OnReady();
    }
    RunAgain();
    RunDeadlines();
  }
}

void Pump::Again(Token token) { again_.push_back(token); }

void Pump::RunAgain() {
  std::vector<Token> tokens;
  tokens.swap(again_);
  for (Token token : tokens) {
    if (auto source = Find(token)) source->OnReady();
  }
}

// False when it is time to stop.
bool Pump::RunPosted() {
  std::vector<std::function<void()>> tasks;
  bool stopping;
  {
    std::lock_guard lock(mutex_);
    tasks.swap(posted_);
    stopping = stopping_;
    woken_ = false;
    if (std::exchange(wake_at_, std::nullopt)) poller_.WakeIn(std::nullopt);
  }
  for (auto& task : tasks) task();
  return !stopping;
}

std::shared_ptr<Pump::Source> Pump::Find(Token token) const {
  std::lock_guard lock(mutex_);
  auto entry = entries_.find(token);
  return entry == entries_.end() ? nullptr : entry->second.source;
}

void Pump::RunDeadlines() {
  std::vector<Token> due;
  {
    std::lock_guard lock(mutex_);
    if (deadlines_ == 0) return;
    Clock::time_point now = Clock::now();
    for (auto& [token, entry] : entries_) {
      if (!entry.deadline || *entry.deadline > now) continue;
      SetDeadlineLocked(&entry, std::nullopt);
      due.push_back(token);
    }
  }
  for (Token token : due) {
    if (auto source = Find(token)) source->OnDeadline();
  }
}

std::optional<Clock::time_point> Pump::NextDeadline() const {
  std::lock_guard lock(mutex_);
  std::optional<Clock::time_point> next;
  if (deadlines_ == 0) return next;
  for (const auto& [token, entry] : entries_) {
    if (entry.deadline && (!next || *entry.deadline < *next)) next = entry.deadline;
  }
  return next;
}

}  // namespace spty
