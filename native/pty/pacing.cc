#include "pty/pacing.h"

namespace spty {

Pacing::Decision Pacing::AfterBatch(size_t bytes, bool at_once, Time now) {
  Decision decision;
  if (unannounced_ == 0) first_unannounced_ = now;
  unannounced_ += bytes;
  const bool flowing = Flowing(bytes, now);
  if (unannounced_ == 0) return decision;
  const Time due = first_unannounced_ + kWindow;
  decision.announce = at_once || !flowing || unannounced_ >= kBulkBytes || now >= due;
  if (decision.announce) {
    unannounced_ = 0;
  } else {
    decision.look_again = due;
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
