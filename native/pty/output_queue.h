// Terminal output between the pump, which fills it, and the host thread, which empties it. Bounded: when it
// is full the pump stops reading, the kernel's buffer fills, and the child blocks in write(2). No byte is
// ever dropped.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "pty/block.h"

namespace spty {

class OutputQueue {
 public:
  // What one session may hold: 256 KiB.
  static constexpr size_t kMaxBlocks = 4;
  // A read is only tried with this much room: the kernel's line discipline hands out at most 4095 bytes at a
  // time.
  static constexpr size_t kMinRoom = 4096;

  // Pump thread: a block with room, out of the host's reach until it is given back; null if the queue is
  // full, and then the next Take says so.
  std::unique_ptr<Block> BeginFill();
  // True if the host came for output meanwhile, missed this block and has to be told of it again.
  [[nodiscard]] bool EndFill(std::unique_ptr<Block> block);

  struct Taken {
    std::unique_ptr<Block> block;  // null if there is none
    bool was_full = false;         // the pump waits for room
  };
  // Host thread: the oldest block.
  Taken Take();

  bool empty();
  // Forgets what is queued; later fills are dropped too.
  void Discard();

 private:
  std::mutex mutex_;
  std::deque<std::unique_ptr<Block>> blocks_;
  bool full_ = false;
  bool filling_ = false;  // a block is out of reach
  bool missed_ = false;   // the host found nothing while one was
  bool discarding_ = false;
};

}  // namespace spty
