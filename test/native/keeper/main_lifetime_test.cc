// The keeper program: how long it and its session live, and what it holds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "support/keeper_host.h"
#include "support/processes_linux.h"
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

TEST(Keeper, EndsDaemonsThatForkedTwiceInASessionOfTheirOwn) {
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("\"$0\"; \"$0\"; echo ready; exec sleep 1000");
  plan.argv.push_back(std::string(SPTY_PROBE_DIR) + "/daemonize_linux");
  pid_t shell = host.Start(plan, terminal.slave());
  std::string output = terminal.ReadUntil("ready\n");
  std::vector<pid_t> daemons;
  std::istringstream lines(output);
  for (std::string word; lines >> word;) {
    if (word == "daemon" && lines >> word) daemons.push_back(std::stoi(word));
  }
  ASSERT_EQ(daemons.size(), 2U) << output;
  for (pid_t daemon : daemons) {
    EXPECT_TRUE(IsRunning(daemon));
    EXPECT_NE(getsid(daemon), getsid(shell));
    // The subreaper has them.
    EXPECT_TRUE(Eventually([&] { return StatusOf(daemon, "PPid") == std::to_string(host.pid()); }));
  }
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
  for (pid_t daemon : daemons) EXPECT_FALSE(IsRunning(daemon));
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

TEST(Keeper, EndsAFamilyThatKeepsForking) {
  TestTerminal terminal;
  KeeperHost host;
  // Each generation ignores signals, leaves one child behind and dies; the orphans come to the keeper.
  pid_t shell = host.Start(ShellPlan("trap '' HUP INT TERM; spread() { (spread &) ; }; i=0; "
                                     "while [ $i -lt 30 ]; do (trap '' HUP; (sleep 1000 & sleep 1000) &); "
                                     "i=$((i+1)); done; echo ready; exec sleep 1000"),
                           terminal.slave());
  terminal.ReadUntil("ready\n");
  ASSERT_TRUE(Eventually([&] { return ChildrenOf(host.pid()).size() >= 31; }));
  std::vector<pid_t> family = ChildrenOf(host.pid());
  for (pid_t member : std::vector<pid_t>(family)) {
    for (pid_t child : ChildrenOf(member)) family.push_back(child);
  }
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
  for (pid_t member : family) EXPECT_FALSE(IsRunning(member));
  EXPECT_FALSE(IsRunning(shell));
}

TEST(Keeper, ReapsWhatComesBackToItWhileTheShellRuns) {
  TestTerminal terminal;
  KeeperHost host;
  pid_t shell =
      host.Start(ShellPlan("i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done; echo ready; read line"),
                 terminal.slave());
  terminal.ReadUntil("ready\n");
  EXPECT_TRUE(Eventually([&] { return ChildrenOf(host.pid()) == std::vector<pid_t>{shell}; }));
}

TEST(Keeper, HoldsNothingOfTheHostsAndNothingOfTheTerminal) {
  TestTerminal terminal;
  // What a careless host would leave to every child.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Fd leaky_read(ends[0]);
  Fd leaky_write(ends[1]);
  Fd leaky_high(fcntl(ends[0], F_DUPFD, 700));
  std::string pipe_name = OwnDescriptors()[ends[0]];
  KeeperHost host;
  pid_t shell = host.Start(ShellPlan("echo ready; read line"), terminal.slave());
  terminal.ReadUntil("ready\n");
  auto held = DescriptorsOf(host.pid());
  EXPECT_EQ(held[0], "/dev/null");
  EXPECT_EQ(held[1], "/dev/null");
  EXPECT_EQ(held[2], "/dev/null");
  EXPECT_EQ(held[3].rfind("socket:", 0), 0U) << held[3];
  // The control socket and the pipe with which it hears of its children.
  EXPECT_EQ(held.size(), 6U);
  for (const auto& [fd, target] : held) {
    EXPECT_EQ(target.find("/dev/pts"), std::string::npos) << fd;
    EXPECT_EQ(target.find("ptmx"), std::string::npos) << fd;
    EXPECT_NE(target, pipe_name) << fd;
  }
  // The shell has the terminal, or the above would say nothing.
  EXPECT_EQ(DescriptorsOf(shell)[0], terminal.name());
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
