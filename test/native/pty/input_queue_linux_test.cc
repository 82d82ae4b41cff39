// Linux takes input for a terminal that nobody has open until its buffer is full.
#include <gtest/gtest.h>

#include "pty/input_queue.h"
#include "support/terminal.h"

namespace spty {
namespace {

TEST(InputQueue, WaitsForATerminalThatNobodyHasOpen) {
  TestTerminal terminal;
  terminal.MakeRaw();
  InputQueue queue;
  ASSERT_EQ(queue.Write(terminal.master(), std::string(1'000'000, 'x')), InputQueue::Flushed::kWaiting);
  terminal.CloseSlave();
  EXPECT_EQ(queue.Flush(terminal.master()), InputQueue::Flushed::kWaiting);
  EXPECT_GT(queue.size(), 0U);
}

}  // namespace
}  // namespace spty
