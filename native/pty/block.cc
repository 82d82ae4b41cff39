#include "pty/block.h"

#include <mutex>
#include <vector>

namespace spty {
namespace {

constexpr size_t kMaxStored = 8;

struct Store {
  std::mutex mutex;
  std::vector<std::unique_ptr<Block>> blocks;
};

// Never destroyed: a session of another thread may still give a block back while the process exits.
Store& BlockStore() {
  static Store* store = new Store;
  return *store;
}

}  // namespace

std::unique_ptr<Block> NewBlock() {
  Store& store = BlockStore();
  {
    std::lock_guard lock(store.mutex);
    if (!store.blocks.empty()) {
      std::unique_ptr<Block> block = std::move(store.blocks.back());
      store.blocks.pop_back();
      block->size = 0;
      block->ascii = true;
      return block;
    }
  }
  // Not make_unique: that would clear 64 KiB for nothing.
  return std::unique_ptr<Block>(new Block);
}

void Recycle(std::unique_ptr<Block> block) {
  Store& store = BlockStore();
  std::lock_guard lock(store.mutex);
  if (store.blocks.size() < kMaxStored) store.blocks.push_back(std::move(block));
}

}  // namespace spty
