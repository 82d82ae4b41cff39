// When to tell the host of output, and when to read again: a pure decision, made after each batch of reads.
//
// A keystroke's echo is announced at once. A flow is announced in nearly full blocks, or a few milliseconds
// after its first byte, so that the host is not woken for every 4 KiB that the kernel hands out. And while a
// flow comes in crumbs (`yes`, a progress bar), reading pauses for a moment: the writer does not notice,
// because the kernel's buffer holds more than it produces meanwhile, and each wake-up brings ten times as
// much.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace spty {

class Pacing {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // More than this within kWindow is a flow.
  static constexpr size_t kFlowBytes = size_t{8} << 10;
  static constexpr Duration kWindow = std::chrono::milliseconds(4);
  // What is announced without waiting for more.
  static constexpr size_t kBulkBytes = size_t{48} << 10;
  // A smaller batch is a crumb: one line discipline buffer is 4 KiB.
  static constexpr size_t kCrumbBytes = 4096;
  static constexpr Duration kShortestPause = std::chrono::microseconds(50);
  static constexpr Duration kLongestPause = std::chrono::microseconds(500);

  struct Decision {
    bool announce = false;
    // Look again at this time at the latest; until then reading is useless if `pause` is set.
    std::optional<Time> look_again;
    bool pause = false;
  };

  // After a batch of `bytes` (0: a look that found nothing). `more`: the kernel may have more right now.
  // `at_once`: nobody can wait any longer.
  Decision AfterBatch(size_t bytes, bool more, bool at_once, Time now);

 private:
  bool Flowing(size_t bytes, Time now);

  size_t unannounced_ = 0;
  Time first_unannounced_{};
  Time window_start_{};
  size_t window_bytes_ = 0;
  bool window_before_flowed_ = false;
  Duration pause_{};
};

}  // namespace spty
