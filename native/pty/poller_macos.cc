#include <sys/event.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/eintr.h"
#include "pty/poller.h"

namespace spty {
namespace {

constexpr uintptr_t kWakeId = 1;
constexpr uintptr_t kTimerId = 2;

struct kevent64_s Change(int fd, int16_t filter, uint16_t flags, uint64_t token) {
  struct kevent64_s change {};
  change.ident = static_cast<uint64_t>(fd);
  change.filter = filter;
  change.flags = flags;
  change.udata = token;
  return change;
}

int Apply(int queue, const struct kevent64_s& change) {
  return RetryEintr([&] { return kevent64(queue, &change, 1, nullptr, 0, 0, nullptr); }) == -1 ? errno : 0;
}

}  // namespace

Result<Poller> Poller::Create() {
  Poller poller;
  poller.queue_ = AboveStdio(Fd(kqueue()));  // a kqueue is never inherited by a fork, and closed by an exec
  if (!poller.queue_.valid()) return Error{Stage::kPump, errno, "kqueue"};
  struct kevent64_s wake {};
  wake.ident = kWakeId;
  wake.filter = EVFILT_USER;
  wake.flags = EV_ADD | EV_CLEAR;
  if (int err = Apply(poller.queue_.get(), wake); err != 0) return Error{Stage::kPump, err, "EVFILT_USER"};
  return poller;
}

// EV_CLEAR: an event is reported once, until something changes again. A master whose slave is closed is "at
// its end" for good, and would be reported for ever otherwise.
Result<void> Poller::Add(int fd, uint64_t token) {
  if (int err = Apply(queue_.get(), Change(fd, EVFILT_READ, EV_ADD | EV_CLEAR, token)); err != 0)
    return Error{Stage::kPump, err, "EVFILT_READ"};
  return {};
}

void Poller::WatchWrites(int fd, uint64_t token, bool wanted) {
  // Deleting and adding anew reports what is the case already. ENOENT: there was none.
  (void)Apply(queue_.get(), Change(fd, EVFILT_WRITE, EV_DELETE, token));
  if (wanted) (void)Apply(queue_.get(), Change(fd, EVFILT_WRITE, EV_ADD | EV_CLEAR, token));
  (void)Apply(queue_.get(), Change(fd, EVFILT_READ, EV_DELETE, token));
  (void)Apply(queue_.get(), Change(fd, EVFILT_READ, EV_ADD | EV_CLEAR, token));
}

void Poller::Remove(int fd) {
  // Fails only if it was never added.
  (void)Apply(queue_.get(), Change(fd, EVFILT_WRITE, EV_DELETE, 0));
  (void)Apply(queue_.get(), Change(fd, EVFILT_READ, EV_DELETE, 0));
}

Result<std::span<const Poller::Event>> Poller::Wait(std::optional<Clock::time_point> deadline) {
  timespec timeout{};
  if (deadline) {
    const Clock::time_point now = Clock::now();
    const auto left = *deadline > now ? *deadline - now : Clock::duration::zero();
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    timeout = {static_cast<time_t>(nanoseconds / 1'000'000'000),
               static_cast<long>(nanoseconds % 1'000'000'000)};
  }
  struct kevent64_s ready[kBatch];
  const int count = kevent64(queue_.get(), nullptr, 0, ready, kBatch, 0, deadline ? &timeout : nullptr);
  if (count == -1 && errno != EINTR) return Error{Stage::kPump, errno, "kevent64"};
  size_t used = 0;
  for (int i = 0; i < count; ++i) {
    if (ready[i].filter != EVFILT_USER && ready[i].filter != EVFILT_TIMER)
      events_[used++] = Event{ready[i].udata};
  }
  return std::span<const Event>(events_.data(), used);
}

void Poller::Wake() {
  struct kevent64_s wake {};
  wake.ident = kWakeId;
  wake.filter = EVFILT_USER;
  wake.fflags = NOTE_TRIGGER;
  // Fails only with EINTR, which Apply repeats.
  (void)Apply(queue_.get(), wake);
}

void Poller::WakeIn(std::optional<Clock::duration> time) {
  struct kevent64_s timer {};
  timer.ident = kTimerId;
  timer.filter = EVFILT_TIMER;
  timer.flags = time ? EV_ADD | EV_ONESHOT : EV_DELETE;
  timer.fflags = NOTE_NSECONDS;
  if (time) timer.data = std::max<int64_t>(std::chrono::nanoseconds(*time).count(), 1);
  // ENOENT: one that has gone off by itself.
  (void)Apply(queue_.get(), timer);
}

}  // namespace spty
