// When to tell the host of output: a pure decision, made after each batch of reads.
//
// A keystroke's echo is announced at once, and so is everything else that a person could be waiting for. A
// flow is announced in nearly full blocks, or a few milliseconds after its first byte, so that the host is
// not woken for every 4 KiB that the kernel hands out.
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
  static constexpr size_t kFlowBytes = size_t{16} << 10;
  static constexpr Duration kWindow = std::chrono::milliseconds(4);
  // What is announced without waiting for more.
  static constexpr size_t kBulkBytes = size_t{48} << 10;

  struct Decision {
    bool announce = false;
    // When to look again at the latest, if something has not been announced.
    std::optional<Time> look_again;
  };

  // After a batch of `bytes` (0: a look that found nothing). `at_once`: nobody can wait any longer.
  Decision AfterBatch(size_t bytes, bool at_once, Time now);

 private:
  bool Flowing(size_t bytes, Time now);

  size_t unannounced_ = 0;
  Time first_unannounced_{};
  Time window_start_{};
  size_t window_bytes_ = 0;
  bool window_before_flowed_ = false;
};

}  // namespace spty
