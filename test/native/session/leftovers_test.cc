#include "session/leftovers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "support/processes.h"

namespace spty {
namespace {

pid_t StartSleeper() {
  pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  return child;
}

TEST(TryReap, TellsAChildThatRunsFromOneThatIsGone) {
  pid_t child = StartSleeper();
  EXPECT_FALSE(TryReap(child));
  kill(child, SIGKILL);
  ASSERT_TRUE(WaitForDeath(child));
  EXPECT_TRUE(TryReap(child));
  EXPECT_TRUE(TryReap(child)) << "no child of ours any more";
}

TEST(ReapLeftovers, ReapsWhatHasEndedAndNothingElse) {
  std::vector<pid_t> before = ChildrenOf(getpid());
  pid_t ended = StartSleeper();
  pid_t running = StartSleeper();
  LeaveToReap(ended);
  LeaveToReap(running);
  kill(ended, SIGKILL);
  ASSERT_TRUE(WaitForDeath(ended));
  EXPECT_EQ(ChildrenOf(getpid()).size(), before.size() + 2);
  ReapLeftovers();
  EXPECT_EQ(StateOf(ended), '\0');
  EXPECT_TRUE(IsRunning(running));
  kill(running, SIGKILL);
  ASSERT_TRUE(WaitForDeath(running));
  ReapLeftovers();
  EXPECT_EQ(ChildrenOf(getpid()), before);
}

TEST(LeaveToReap, ReapsAtOnceWhatHasEndedAndIgnoresNone) {
  pid_t child = StartSleeper();
  kill(child, SIGKILL);
  ASSERT_TRUE(WaitForDeath(child));
  LeaveToReap(child);
  EXPECT_EQ(StateOf(child), '\0');
  LeaveToReap(0);
  LeaveToReap(-1);
}

}  // namespace
}  // namespace spty
