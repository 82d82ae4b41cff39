#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include "session/foreground.h"
#include "support/keeper_host.h"
#include "support/processes_linux.h"
#include "support/terminal.h"

namespace spty {
namespace {

TEST(ForegroundProgram, IsTheNameUnderWhichTheForegroundJobWasStarted) {
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("echo ready; read x; exit 0");
  plan.argv[0] = "an odd name";
  host.Start(plan, terminal.slave());
  terminal.ReadUntil("ready\n");
  EXPECT_EQ(ForegroundProgram(terminal.master()), "an odd name");
}

TEST(ForegroundProgram, FollowsJobControl) {
  TestTerminal terminal;
  KeeperHost host;
  host.Start(ShellPlan("set -m; sleep 1000; echo back; read x"), terminal.slave());
  EXPECT_TRUE(Eventually([&] { return ForegroundProgram(terminal.master()) == "sleep"; }));
  ASSERT_EQ(kill(-tcgetpgrp(terminal.master()), SIGTERM), 0);
  terminal.ReadUntil("back\n");
  EXPECT_EQ(ForegroundProgram(terminal.master()), "sh");
}

TEST(ForegroundProgram, IsNothingWithoutAForegroundGroup) {
  TestTerminal terminal;
  EXPECT_EQ(ForegroundProgram(terminal.master()), "");
  EXPECT_EQ(ForegroundProgram(-1), "");
  Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(ForegroundProgram(null.get()), "");
}

}  // namespace
}  // namespace spty
