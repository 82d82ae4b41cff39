// Terminal input on its way to the kernel, in order. The host thread appends and tries to write at once; what
// the kernel does not take is written by the pump as the child reads.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

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
  // Small writes are joined up to this size, so that a thousand keystrokes are one write(2).
  static constexpr size_t kPiece = size_t{64} << 10;

  Flushed FlushLocked(int fd);
  void AppendLocked(std::string_view bytes);
  void DropLocked();

  mutable std::mutex mutex_;
  std::deque<std::string> pieces_;
  size_t head_offset_ = 0;
  size_t size_ = 0;
  bool shut_ = false;
};

}  // namespace spty
