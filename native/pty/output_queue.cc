#include "pty/output_queue.h"

#include <utility>

namespace spty {

std::unique_ptr<Block> OutputQueue::BeginFill() {
  std::lock_guard lock(mutex_);
  if (!blocks_.empty() && blocks_.back()->room() >= kMinRoom) {
    std::unique_ptr<Block> tail = std::move(blocks_.back());
    blocks_.pop_back();
    filling_ = true;
    return tail;
  }
  if (blocks_.size() >= kMaxBlocks) {
    full_ = true;
    return nullptr;
  }
  filling_ = true;
  return NewBlock();
}

bool OutputQueue::EndFill(std::unique_ptr<Block> block) {
  std::lock_guard lock(mutex_);
  filling_ = false;
  const bool missed = std::exchange(missed_, false);
  if (block->size == 0 || discarding_) {
    Recycle(std::move(block));
    return false;
  }
  blocks_.push_back(std::move(block));
  return missed;
}

OutputQueue::Taken OutputQueue::Take() {
  std::lock_guard lock(mutex_);
  Taken taken;
  if (blocks_.empty()) {
    missed_ = filling_;
    return taken;
  }
  taken.block = std::move(blocks_.front());
  blocks_.pop_front();
  taken.was_full = std::exchange(full_, false);
  return taken;
}

bool OutputQueue::empty() {
  std::lock_guard lock(mutex_);
  if (blocks_.empty()) missed_ = filling_;
  return blocks_.empty();
}

void OutputQueue::Discard() {
  std::lock_guard lock(mutex_);
  discarding_ = true;
  blocks_.clear();
}

}  // namespace spty
