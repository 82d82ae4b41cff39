#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/eintr.h"
#include "pty/poller.h"

namespace spty {
namespace {

constexpr uint32_t kReads = uint32_t{EPOLLIN} | EPOLLET;
constexpr uint64_t kWakeToken = ~uint64_t{0};

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

timespec ToTimespec(Clock::duration time) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  return {static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
}

// epoll_pwait2 (Linux 5.11) takes nanoseconds. Before that the time is rounded up to a millisecond: a little
// later, never busy.
int WaitUntil(int queue, epoll_event* events, int room, std::optional<Clock::time_point> deadline) {
  if (!deadline) return epoll_wait(queue, events, room, -1);
  Clock::time_point now = Clock::now();
  auto left = *deadline > now ? *deadline - now : Clock::duration::zero();
  timespec timeout = ToTimespec(left);
  long count = syscall(SYS_epoll_pwait2, queue, events, room, &timeout, nullptr, 0);
  if (count != -1 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(count);
  return epoll_wait(queue, events, room,
                    static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

}  // namespace

Result<Poller> Poller::Create() {
  Poller poller;
  poller.queue_ = AboveStdio(Fd(epoll_create1(EPOLL_CLOEXEC)));
  if (!poller.queue_.valid()) return Error{Stage::kPump, errno, "epoll_create1"};
  poller.wake_ = AboveStdio(Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (!poller.wake_.valid()) return Error{Stage::kPump, errno, "eventfd"};
  TRY(poller.Add(poller.wake_.get(), kWakeToken));
  poller.timer_ = AboveStdio(Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)));
  if (!poller.timer_.valid()) return Error{Stage::kPump, errno, "timerfd_create"};
  TRY(poller.Add(poller.timer_.get(), kWakeToken));
  return poller;
}

Result<void> Poller::Add(int fd, uint64_t token) {
  epoll_event event{};
  event.events = kReads;
  event.data.u64 = token;
  if (epoll_ctl(queue_.get(), EPOLL_CTL_ADD, fd, &event) == -1)
    return Error{Stage::kPump, errno, "epoll_ctl"};
  return {};
}

void Poller::WatchWrites(int fd, uint64_t token, bool wanted) {
  epoll_event event{};
  event.events = wanted ? kReads | EPOLLOUT : kReads;
  event.data.u64 = token;
  // Fails only if it was never added: changing an entry takes no memory.
  epoll_ctl(queue_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::Remove(int fd) {
  // Fails only if it was never added.
  epoll_ctl(queue_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Result<std::span<const Poller::Event>> Poller::Wait(std::optional<Clock::time_point> deadline) {
  epoll_event ready[kBatch];
  int count = WaitUntil(queue_.get(), ready, kBatch, deadline);
  if (count == -1 && errno != EINTR) return Error{Stage::kPump, errno, "epoll_wait"};
  size_t used = 0;
  for (int i = 0; i < count; ++i) {
    if (ready[i].data.u64 != kWakeToken) events_[used++] = Event{ready[i].data.u64};
  }
  return std::span<const Event>(events_.data(), used);
}

void Poller::Wake() {
  uint64_t one = 1;
  // Edge-triggered: each write is a new edge, so the counter is never read. EAGAIN (it is full after 2^64
  // wake-ups) cannot be reached.
  (void)RetryEintr([&] { return write(wake_.get(), &one, sizeof one); });
}

void Poller::WakeIn(std::optional<Clock::duration> time) {
  itimerspec timer{};  // all zero: none
  if (time) timer.it_value = ToTimespec(std::max(*time, Clock::duration(1)));
  // Edge-triggered: that it went off is never read. Fails only for what is no timer.
  (void)timerfd_settime(timer_.get(), 0, &timer, nullptr);
}

}  // namespace spty
