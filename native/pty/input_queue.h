// Terminal input on its way to the kernel, in order. The host thread appends and tries to write at once; what
// the kernel does not take is written by the pump as the child reads.
#pragma once

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
    kWaiting,  // the kernel takes no more for now
    kDead,     // the terminal is gone; what was queued is dropped
  };

  // Writes to `fd` what the kernel takes and queues the rest. Any thread; calls exclude each other, so bytes
  // never overtake. `fd` must be non-blocking.
  Flushed Write(int fd, std::string_view bytes);
  // Continues with what is queued.
  Flushed Flush(int fd);

  size_t size() const;
  // Drops what is queued and refuses all that follows. Afterwards no call touches a descriptor any more.
  void Shut();

 private:
  // Filled one after the other, so that a thousand keystrokes are one write(2).
  using Blocks = std::deque<std::unique_ptr<Block>>;

  static void Append(std::string_view bytes, Blocks* blocks);
  Flushed FlushLocked(int fd);
  Flushed WriteMuch(int fd, std::string_view bytes);
  void DropHeadLocked();
  void DropLocked();

  std::mutex writing_;        // keeps writers apart; taken before mutex_
  mutable std::mutex mutex_;  // guards what follows
  Blocks blocks_;
  size_t head_offset_ = 0;
  size_t size_ = 0;
  bool shut_ = false;
};

}  // namespace spty
