#include "pty/output_queue.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

namespace spty {
namespace {

// Puts `text` in as the pump would; false if the queue was full before all of it was in.
bool Fill(OutputQueue& queue, const std::string& text, bool alone = true) {
  size_t at = 0;
  while (at < text.size()) {
    std::unique_ptr<Block> block = queue.BeginFill();
    if (block == nullptr) return false;
    size_t size = std::min(block->room(), text.size() - at);
    memcpy(block->bytes + block->size, text.data() + at, size);
    block->size += size;
    at += size;
    bool missed = queue.EndFill(std::move(block));
    EXPECT_FALSE(alone && missed);
  }
  return true;
}

std::string TakeAll(OutputQueue& queue) {
  std::string all;
  for (;;) {
    OutputQueue::Taken taken = queue.Take();
    if (taken.block == nullptr) return all;
    all.append(taken.block->bytes, taken.block->size);
  }
}

TEST(OutputQueue, IsEmptyAtFirst) {
  OutputQueue queue;
  EXPECT_TRUE(queue.empty());
  OutputQueue::Taken taken = queue.Take();
  EXPECT_EQ(taken.block, nullptr);
  EXPECT_FALSE(taken.was_full);
}

TEST(OutputQueue, KeepsTheOrder) {
  OutputQueue queue;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + ",";
  ASSERT_TRUE(Fill(queue, text));
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(TakeAll(queue), text);
  EXPECT_TRUE(queue.empty());
}

TEST(OutputQueue, JoinsSmallFillsInOneBlock) {
  OutputQueue queue;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Fill(queue, "0123456789"));
  OutputQueue::Taken taken = queue.Take();
  ASSERT_NE(taken.block, nullptr);
  EXPECT_EQ(taken.block->size, 1000U);
  EXPECT_TRUE(queue.empty());
}

TEST(OutputQueue, StartsANewBlockWhenAReadWouldNotFit) {
  OutputQueue queue;
  ASSERT_TRUE(Fill(queue, std::string(Block::kCapacity - OutputQueue::kMinRoom + 1, 'a')));
  ASSERT_TRUE(Fill(queue, "b"));
  OutputQueue::Taken first = queue.Take();
  EXPECT_EQ(first.block->size, Block::kCapacity - OutputQueue::kMinRoom + 1);
  OutputQueue::Taken second = queue.Take();
  EXPECT_EQ(second.block->size, 1U);
}

TEST(OutputQueue, IsBounded) {
  OutputQueue queue;
  std::string block_full(Block::kCapacity, 'x');
  for (size_t i = 0; i < OutputQueue::kMaxBlocks; ++i) ASSERT_TRUE(Fill(queue, block_full));
  EXPECT_EQ(queue.BeginFill(), nullptr);
  OutputQueue::Taken taken = queue.Take();
  EXPECT_TRUE(taken.was_full) << "the pump waits and must be told";
  EXPECT_FALSE(queue.Take().was_full) << "once";
  EXPECT_TRUE(Fill(queue, "x"));
}

TEST(OutputQueue, WasNotFullIfThePumpNeverMetTheLimit) {
  OutputQueue queue;
  std::string block_full(Block::kCapacity, 'x');
  for (size_t i = 0; i < OutputQueue::kMaxBlocks; ++i) ASSERT_TRUE(Fill(queue, block_full));
  EXPECT_FALSE(queue.Take().was_full);
}

TEST(OutputQueue, KeepsNoEmptyBlock) {
  OutputQueue queue;
  EXPECT_FALSE(queue.EndFill(queue.BeginFill()));
  EXPECT_TRUE(queue.empty());
  ASSERT_TRUE(Fill(queue, "x"));
  EXPECT_FALSE(queue.EndFill(queue.BeginFill()));
  EXPECT_EQ(TakeAll(queue), "x");
}

TEST(OutputQueue, TellsOfABlockThatTheHostMissedWhileItWasBeingFilled) {
  OutputQueue queue;
  ASSERT_TRUE(Fill(queue, "x"));
  // The host has been told of it, but finds nothing.
  std::unique_ptr<Block> open = queue.BeginFill();
  EXPECT_EQ(queue.Take().block, nullptr);
  EXPECT_TRUE(queue.EndFill(std::move(open)));
  // It only asked.
  open = queue.BeginFill();
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.EndFill(std::move(open)));
  // It did not come.
  EXPECT_FALSE(queue.EndFill(queue.BeginFill()));
  EXPECT_EQ(TakeAll(queue), "x");
  // It came, but there is nothing to tell of.
  open = queue.BeginFill();
  EXPECT_EQ(queue.Take().block, nullptr);
  EXPECT_FALSE(queue.EndFill(std::move(open)));
}

TEST(OutputQueue, ForgetsAndRefusesAfterDiscard) {
  OutputQueue queue;
  ASSERT_TRUE(Fill(queue, "before"));
  std::unique_ptr<Block> open = queue.BeginFill();
  ASSERT_NE(open, nullptr);
  queue.Discard();
  EXPECT_FALSE(queue.EndFill(std::move(open)));
  EXPECT_TRUE(queue.empty());
  Fill(queue, "after");
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(TakeAll(queue), "");
}

TEST(OutputQueue, LosesAndReordersNothingBetweenTwoThreads) {
  OutputQueue queue;
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + ",";
  std::thread pump([&] {
    for (size_t at = 0; at < text.size();) {
      size_t size = std::min<size_t>(1 + at % 4095, text.size() - at);
      if (Fill(queue, text.substr(at, size), false)) {
        at += size;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::string taken;
  while (taken.size() < text.size()) {
    std::string some = TakeAll(queue);
    if (some.empty()) std::this_thread::yield();
    taken += some;
  }
  pump.join();
  EXPECT_TRUE(taken == text);
}

}  // namespace
}  // namespace spty
