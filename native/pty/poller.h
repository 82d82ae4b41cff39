// Waiting for descriptors: epoll on Linux, kqueue on macOS. Edge-triggered: an event says that something
// changed, and the receiver reads or writes until the kernel says EAGAIN. That matters for a terminal whose
// slave is closed (a child that closed its stdio and works on): level-triggered, its hang-up would be
// reported for ever.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/fd.h"
#include "base/result.h"

namespace spty {

using Clock = std::chrono::steady_clock;

class Poller {
 public:
  struct Event {
    uint64_t token;
  };

  static Result<Poller> Create();

  // Reports readability and hang-up of `fd` under `token` until Remove.
  Result<void> Add(int fd, uint64_t token);
  // Reports writability too, or no longer. What is the case already is reported anew, so that no change can
  // be missed. From any thread.
  void WatchWrites(int fd, uint64_t token, bool wanted);
  // `fd` must still be open.
  void Remove(int fd);

  // Waits until something happened, Wake was called, or `deadline` passed. Wake-ups are not among the events.
  // The answer is valid until the next Wait.
  Result<std::span<const Event>> Wait(std::optional<Clock::time_point> deadline);

  // Ends a Wait, now or the next one. From any thread; never blocks.
  void Wake();
  // The same when that time has passed, unless it is told something else before; none: not any more. Costs
  // the caller less than to wake a thread, which may be asleep on an idle processor.
  void WakeIn(std::optional<Clock::duration> time);

 private:
  static constexpr size_t kBatch = 64;

  Poller() = default;
  Fd queue_;
  Fd wake_;
  Fd timer_;  // macOS needs none
  std::array<Event, kBatch> events_;
};

}  // namespace spty
