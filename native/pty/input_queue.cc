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
  // The copy takes milliseconds, and the pump has other terminals to serve: it does not wait for it.
  Blocks more;
  Append(bytes, &more);
  std::lock_guard lock(mutex_);
  if (shut_) return Flushed::kDead;
  size_ += bytes.size();
  std::move(more.begin(), more.end(), std::back_inserter(blocks_));
  return Flushed::kWaiting;
}

InputQueue::Flushed InputQueue::Flush(int fd) {
  std::unique_lock lock(mutex_);
  return size_ == 0 ? Flushed::kIdle : FlushLocked(fd, lock);
}

size_t InputQueue::size() const {
  std::lock_guard lock(mutex_);
  return size_;
}

void InputQueue::Shut() {
  std::unique_lock lock(mutex_);
  shut_ = true;
  // The descriptor is about to be closed, and the block to be reused.
  flushed_.wait(lock, [&] { return !flushing_; });
  DropLocked();
}

InputQueue::Flushed InputQueue::FlushLocked(int fd, std::unique_lock<std::mutex>& lock) {
  while (!blocks_.empty()) {
    // The host only ever adds behind these bytes.
    const std::string_view bytes = blocks_.front()->Filled().substr(head_offset_);
    flushing_ = true;
    lock.unlock();
    ssize_t written = RetryEintr([&] { return write(fd, bytes.data(), bytes.size()); });
    const int err = errno;
    lock.lock();
    flushing_ = false;
    if (shut_) {
      flushed_.notify_all();
      return Flushed::kDead;
    }
    if (written == -1 && err == EAGAIN) return Flushed::kWaiting;
    if (written == -1) {
      // The terminal is gone. Nobody will read this any more.
      DropLocked();
      return Flushed::kDead;
    }
    size_ -= static_cast<size_t>(written);
    head_offset_ += static_cast<size_t>(written);
    if (static_cast<size_t>(written) < bytes.size()) return Flushed::kWaiting;
    if (head_offset_ == blocks_.front()->size) DropHeadLocked();
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
