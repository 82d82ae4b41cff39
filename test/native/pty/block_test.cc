#include "pty/block.h"

#include <gtest/gtest.h>

#include <vector>

namespace spty {
namespace {

TEST(Block, IsEmptyAndAsciiWhenNew) {
  std::unique_ptr<Block> block = NewBlock();
  EXPECT_EQ(block->size, 0U);
  EXPECT_TRUE(block->ascii);
  EXPECT_EQ(block->room(), Block::kCapacity);
}

TEST(Block, IsEmptyAndAsciiWhenItComesBackFromTheStore) {
  std::unique_ptr<Block> block = NewBlock();
  Block* same = block.get();
  block->size = 100;
  block->ascii = false;
  EXPECT_EQ(block->room(), Block::kCapacity - 100);
  Recycle(std::move(block));
  block = NewBlock();
  EXPECT_EQ(block.get(), same);
  EXPECT_EQ(block->size, 0U);
  EXPECT_TRUE(block->ascii);
}

TEST(Block, AreAllDifferent) {
  std::vector<std::unique_ptr<Block>> blocks;
  for (int i = 0; i < 20; ++i) {
    blocks.push_back(NewBlock());
    for (int j = 0; j < i; ++j) ASSERT_NE(blocks[static_cast<size_t>(j)], blocks.back());
  }
  for (auto& block : blocks) Recycle(std::move(block));
}

}  // namespace
}  // namespace spty
