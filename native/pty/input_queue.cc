#include "pty/input_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/eintr.h"

namespace spty {

InputQueue::Flushed InputQueue::Write(int fd, std::string_view bytes) {
  std::lock_guard writer(writing_);
  {
    std::lock_guard lock(mutex_);
    if (shut_) return Flushed::kDead;
    if (size_ == 0) {
      // The common case, a keystroke or a paste into an idle terminal: no thread but this one is involved.
      ssize_t written = RetryEintr([&] { return write(fd, bytes.data(), bytes.size()); });
      if (written == -1 && errno != EAGAIN) return Flushed::kDead;
      if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
      if (bytes.empty()) return Flushed::kEmpty;
    }
    if (bytes.size() <= Block::kCapacity) {
      Append(bytes, &blocks_);
      size_ += bytes.size();
      return Flushed::kWaiting;
    }
  }
  return WriteMuch(fd, bytes);
}

// The copy takes milliseconds, and the pump has other terminals to serve: it does not wait for it.
InputQueue::Flushed InputQueue::WriteMuch(int fd, std::string_view bytes) {
  Blocks more;
  Append(bytes, &more);
  std::lock_guard lock(mutex_);
  if (shut_) return Flushed::kDead;
  const bool idle = size_ == 0;
  size_ += bytes.size();
  std::move(more.begin(), more.end(), std::back_inserter(blocks_));
  // If the child read everything meanwhile, the pump found nothing to write, and nobody will wake it for
  // this.
  return idle ? FlushLocked(fd) : Flushed::kWaiting;
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
  while (!blocks_.empty()) {
    const Block& head = *blocks_.front();
    ssize_t written =
        RetryEintr([&] { return write(fd, head.bytes + head_offset_, head.size - head_offset_); });
    if (written == -1 && errno == EAGAIN) return Flushed::kWaiting;
    if (written == -1) {
      // The terminal is gone. Nobody will read this any more.
      DropLocked();
      return Flushed::kDead;
    }
    size_ -= static_cast<size_t>(written);
    head_offset_ += static_cast<size_t>(written);
    if (head_offset_ < head.size) return Flushed::kWaiting;
    DropHeadLocked();
  }
  return Flushed::kEmpty;
}

void InputQueue::DropHeadLocked() {
  Recycle(std::move(blocks_.front()));
  blocks_.pop_front();
  head_offset_ = 0;
}

void InputQueue::DropLocked() {
  while (!blocks_.empty()) DropHeadLocked();
  size_ = 0;
}

void InputQueue::Append(std::string_view bytes, Blocks* blocks) {
  while (!bytes.empty()) {
    if (blocks->empty() || blocks->back()->room() == 0) blocks->push_back(NewBlock());
    Block& tail = *blocks->back();
    size_t size = std::min(bytes.size(), tail.room());
    memcpy(tail.bytes + tail.size, bytes.data(), size);
    tail.size += size;
    bytes.remove_prefix(size);
  }
}

}  // namespace spty
