// Terminal input on its way to the kernel, in order. The host thread appends and tries to write at once; what
// the kernel does not take is written by the pump as the child reads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>

#include "pty/block.h"

namespace spty {

class InputQueue {
 public:
  enum class Flushed {
    kIdle,     // there was nothing to do
    kEmpty,    // everything is with the kernel now
    kWaiting,  // some is queued: the kernel takes no more for now, or was not asked again
    kDead,     // the terminal is gone; what was queued is dropped
  };

  // Host thread. Writes to `fd` what the kernel takes and queues the rest. `fd` must be non-blocking.
  Flushed Write(int fd, std::string_view bytes);
  // One other thread. Continues with what is queued.
  Flushed Flush(int fd);

  size_t size() const;
  // Drops what is queued and refuses all that follows. Afterwards no call touches a descriptor any more.
  void Shut();

 private:
  // Filled one after the other, so that a thousand keystrokes are one write(2).
  using Blocks = std::deque<std::unique_ptr<Block>>;

  static void Append(std::string_view bytes, Blocks* blocks);
  Flushed FlushLocked(int fd, std::unique_lock<std::mutex>& lock);
  void DropHeadLocked();
  void DropLocked();

  mutable std::mutex mutex_;  // guards what follows
  Blocks blocks_;
  size_t head_offset_ = 0;
  size_t size_ = 0;
  bool shut_ = false;
  // The flusher is in write(2) with the beginning of the first block, without the lock: it takes a while, and
  // the host would wait for it.
  bool flushing_ = false;
  std::condition_variable flushed_;
};

}  // namespace spty
