#include "pty/input_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/eintr.h"

namespace spty {

InputQueue::Flushed InputQueue::Write(int fd, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  if (shut_) return Flushed::kDead;
  if (size_ == 0) {
    // The common case, a keystroke or a paste into an idle terminal: no thread but this one is involved.
    ssize_t written = RetryEintr([&] { return write(fd, bytes.data(), bytes.size()); });
    if (written == -1 && errno != EAGAIN) return Flushed::kDead;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
    if (bytes.empty()) return Flushed::kEmpty;
  }
  AppendLocked(bytes);
  return Flushed::kWaiting;
}

InputQueue::Flushed InputQueue::Flush(int fd) {
  std::lock_guard lock(mutex_);
  return size_ == 0 ? Flushed::kIdle : FlushLocked(fd);
}

size_t InputQueue::size() const {
  std::lock_guard lock(mutex_);
  return size_;
}

void InputQueue::Shut() {
  std::lock_guard lock(mutex_);
  shut_ = true;
  DropLocked();
}

InputQueue::Flushed InputQueue::FlushLocked(int fd) {
  while (!pieces_.empty()) {
    std::string_view head = std::string_view(pieces_.front()).substr(head_offset_);
    ssize_t written = RetryEintr([&] { return write(fd, head.data(), head.size()); });
    if (written == -1 && errno == EAGAIN) return Flushed::kWaiting;
    if (written == -1) {
      // The terminal is gone. Nobody will read this any more.
      DropLocked();
      return Flushed::kDead;
    }
    size_ -= static_cast<size_t>(written);
    head_offset_ += static_cast<size_t>(written);
    if (head_offset_ < pieces_.front().size()) return Flushed::kWaiting;
    pieces_.pop_front();
    head_offset_ = 0;
  }
  return Flushed::kEmpty;
}

void InputQueue::DropLocked() {
  pieces_.clear();
  head_offset_ = 0;
  size_ = 0;
}

void InputQueue::AppendLocked(std::string_view bytes) {
  size_ += bytes.size();
  if (!pieces_.empty() && pieces_.back().size() < kPiece) {
    size_t join = std::min(bytes.size(), kPiece - pieces_.back().size());
    pieces_.back().append(bytes.substr(0, join));
    bytes.remove_prefix(join);
  }
  if (!bytes.empty()) pieces_.emplace_back(bytes);
}

}  // namespace spty
