// The keeper program: how long it and its session live, and what it holds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "support/keeper_host.h"
#include "support/processes.h"
#include "support/terminal.h"

namespace spty {
namespace {

// "12 34 56\n" -> numbers.
std::vector<pid_t> Numbers(const std::string& line) {
  std::istringstream text(line);
  std::vector<pid_t> numbers;
  for (pid_t number = 0; text >> number;) numbers.push_back(number);
  return numbers;
}

TEST(Keeper, EndsShellAndBackgroundJobsWhenTheHostGoes) {
  TestTerminal terminal;
  KeeperHost host;
  pid_t shell =
      host.Start(ShellPlan("trap '' HUP TERM; sleep 1000 & one=$!; (sleep 1000 & echo $one $! ready; "
                           "exec sleep 1000)"),
                 terminal.slave());
  std::vector<pid_t> jobs = Numbers(terminal.ReadUntil("ready\n"));
  ASSERT_EQ(jobs.size(), 2U);
  for (pid_t job : jobs) EXPECT_TRUE(IsRunning(job));
  EXPECT_TRUE(IsRunning(shell));
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
  for (pid_t job : jobs) EXPECT_FALSE(IsRunning(job));
  EXPECT_FALSE(IsRunning(shell));
}

TEST(Keeper, EndsAStoppedShell) {
  TestTerminal terminal;
  KeeperHost host;
  pid_t shell = host.Start(ShellPlan("sleep 1000 & echo $! ready; kill -STOP $$; exit 0"), terminal.slave());
  std::vector<pid_t> jobs = Numbers(terminal.ReadUntil("ready\n"));
  ASSERT_EQ(jobs.size(), 1U);
  ASSERT_TRUE(Eventually([&] { return StateOf(shell) == 'T'; }));
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
  EXPECT_FALSE(IsRunning(shell));
  EXPECT_FALSE(IsRunning(jobs[0]));
}

TEST(Keeper, HasASessionOfItsOwnAndNoTerminal) {
  TestTerminal terminal;
  KeeperHost host;
  pid_t shell = host.Start(ShellPlan("echo ready; read line"), terminal.slave());
  terminal.ReadUntil("ready\n");
  EXPECT_EQ(getsid(host.pid()), host.pid());
  EXPECT_EQ(getsid(shell), shell);
  EXPECT_EQ(getpgid(shell), shell);
}

TEST(Keeper, LetsTheTerminalHangUpWhenTheShellClosesIt) {
  TestTerminal terminal;
  KeeperHost host;
  host.Start(ShellPlan("echo last; exec 0<&- 1>&- 2>&-; exec sleep 1000"), terminal.slave());
  terminal.CloseSlave();
  // Only if neither the keeper nor anybody else holds the slave does reading end.
  EXPECT_EQ(terminal.ReadToEnd(), "last\n");
}

TEST(Keeper, SurvivesEverySignalButKillAndStop) {
  TestTerminal terminal;
  KeeperHost host;
  host.Start(ShellPlan("echo ready; read line; echo $line; exit 9"), terminal.slave());
  terminal.ReadUntil("ready\n");
  for (int number = 1; number < 32; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    ASSERT_EQ(kill(host.pid(), number), 0);
  }
  terminal.Write("hello\n");
  terminal.ReadUntil("hello\nhello\n");
  EXPECT_EQ(host.Expect(wire::Type::kExited).exited.code, 9);
}

TEST(Keeper, WritesNothingOfItsOwnToTheTerminal) {
  TestTerminal terminal;
  KeeperHost host;
  host.Start(ShellPlan("printf only-this"), terminal.slave());
  host.Expect(wire::Type::kExited);
  host.SendSignal(SIGTERM);
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
  terminal.CloseSlave();
  EXPECT_EQ(terminal.ReadToEnd(), "only-this");
}

TEST(Keeper, IsMissedWhenAnOutsiderKillsIt) {
  TestTerminal terminal;
  KeeperHost host;
  pid_t shell = host.Start(ShellPlan("echo ready; read line"), terminal.slave());
  terminal.ReadUntil("ready\n");
  ASSERT_EQ(kill(host.pid(), SIGKILL), 0);
  EXPECT_FALSE(host.Next().has_value());
  int status = host.Wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  // What it guarded is still hung up with the terminal.
  EXPECT_TRUE(IsRunning(shell));
  terminal.CloseSlave();
  terminal.CloseMaster();
  EXPECT_TRUE(WaitForDeath(shell));
}

}  // namespace
}  // namespace spty
