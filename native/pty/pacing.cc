#include "pty/pacing.h"

#include <algorithm>

namespace spty {

Pacing::Decision Pacing::AfterBatch(size_t bytes, bool more, bool at_once, Time now) {
  Decision decision;
  if (unannounced_ == 0) first_unannounced_ = now;
  unannounced_ += bytes;
  const bool flowing = Flowing(bytes, now);
  const bool stalled = bytes == 0 && !more;
  decision.announce = unannounced_ > 0 && (at_once || stalled || !flowing || unannounced_ >= kBulkBytes ||
                                           now - first_unannounced_ >= kWindow);
  if (decision.announce) unannounced_ = 0;
  if (!flowing || stalled || more || at_once) {
    pause_ = Duration::zero();
  } else if (bytes >= kCrumbBytes) {
    pause_ /= 2;
  } else {
    pause_ = std::clamp(pause_ * 2, kShortestPause, kLongestPause);
    decision.pause = true;
    decision.look_again = now + pause_;
  }
  if (unannounced_ > 0) {
    Time due = first_unannounced_ + kWindow;
    decision.look_again = decision.look_again ? std::min(*decision.look_again, due) : due;
  }
  return decision;
}

// A window counts for the one after it, so that a flow is still one when a new window has just begun.
bool Pacing::Flowing(size_t bytes, Time now) {
  if (now - window_start_ >= kWindow) {
    window_before_flowed_ = window_bytes_ >= kFlowBytes && now - window_start_ < 2 * kWindow;
    window_start_ = now;
    window_bytes_ = 0;
  }
  window_bytes_ += bytes;
  return window_before_flowed_ || window_bytes_ >= kFlowBytes;
}

}  // namespace spty
