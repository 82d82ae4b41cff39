#include "pty/output_queue.h"

#include <utility>

namespace spty {

std::unique_ptr<Block> OutputQueue::BeginFill() {
  std::lock_guard lock(mutex_);
  if (!blocks_.empty() && blocks_.back()->room() >= kMinRoom) {
    std::unique_ptr<Block> tail = std::move(blocks_.back());
    blocks_.pop_back();
    return tail;
  }
  if (blocks_.size() >= kMaxBlocks) {
    full_ = true;
    return nullptr;
  }
  return NewBlock();
}

void OutputQueue::EndFill(std::unique_ptr<Block> block) {
  std::lock_guard lock(mutex_);
  if (block->size == 0 || discarding_) {
    Recycle(std::move(block));
  } else {
    blocks_.push_back(std::move(block));
  }
}

OutputQueue::Taken OutputQueue::Take() {
  std::lock_guard lock(mutex_);
  Taken taken;
  if (blocks_.empty()) return taken;
  taken.block = std::move(blocks_.front());
  blocks_.pop_front();
  taken.was_full = std::exchange(full_, false);
  return taken;
}

bool OutputQueue::empty() const {
  std::lock_guard lock(mutex_);
  return blocks_.empty();
}

void OutputQueue::Discard() {
  std::lock_guard lock(mutex_);
  discarding_ = true;
  blocks_.clear();
}

}  // namespace spty
