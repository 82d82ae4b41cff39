#include "session/keeper_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "support/keeper_host.h"
#include "support/processes.h"
#include "support/temp_dir.h"
#include "support/terminal.h"

namespace spty {
namespace {

KeeperProcess Start() {
  auto keeper = KeeperProcess::Start(SPTY_KEEPER_PATH);
  EXPECT_TRUE(keeper.ok());
  return std::move(keeper).value();
}

// Sends the plan and returns the pid of the program that then runs.
pid_t RunPlan(KeeperProcess& keeper, const Plan& plan, Fd slave) {
  auto encoded = EncodePlan(plan);
  const int fds[] = {slave.get()};
  EXPECT_TRUE(encoded.ok() && keeper.SendPlan(encoded.value(), fds).ok());
  auto started = keeper.Await();
  EXPECT_TRUE(started.ok() && started.value().type == wire::Type::kStarted);
  return started.ok() ? started.value().started.pid : 0;
}

TEST(KeeperProcess, StartsAKeeperApartFromTheHost) {
  Footprint before = Footprint::AtRest();
  {
    KeeperProcess keeper = Start();
    std::vector<pid_t> children = ChildrenOf(getpid());
    ASSERT_EQ(children.size(), before.children.size() + 1);
    pid_t pid = children.back();
    EXPECT_EQ(getsid(pid), pid);
    EXPECT_EQ(fcntl(keeper.control(), F_GETFD), FD_CLOEXEC);
    EXPECT_GE(keeper.control(), 3);
  }
  EXPECT_EQ(Footprint::Now(), before) << "its destructor ends and reaps it";
}

TEST(KeeperProcess, SaysWhichProgramCouldNotBeStarted) {
  Footprint before = Footprint::AtRest();
  auto keeper = KeeperProcess::Start("/nonexistent/keeper");
  ASSERT_FALSE(keeper.ok());
  EXPECT_EQ(keeper.error().stage, Stage::kKeeper);
  EXPECT_EQ(keeper.error().err, ENOENT);
  EXPECT_EQ(keeper.error().subject, "/nonexistent/keeper");
  EXPECT_EQ(Footprint::Now(), before);
}

TEST(KeeperProcess, SendsAPlanThatDoesNotFitIntoTheSocketAtOnce) {
  TestTerminal terminal;
  KeeperProcess keeper = Start();
  Plan plan = ShellPlan("echo ${#V3}");
  for (int i = 0; i < 15; ++i) plan.env.push_back("V" + std::to_string(i) + "=" + std::string(120'000, 'v'));
  EXPECT_GT(RunPlan(keeper, plan, terminal.TakeSlave()), 0);
  EXPECT_EQ(terminal.ReadUntil("\n"), "120000\n");
}

TEST(KeeperProcess, SignalsUntilTheSessionIsOver) {
  TestTerminal terminal;
  KeeperProcess keeper = Start();
  pid_t shell = RunPlan(keeper, ShellPlan("echo ready; exec sleep 1000"), terminal.TakeSlave());
  terminal.ReadUntil("ready\n");
  EXPECT_TRUE(keeper.SendSignal(SIGKILL));
  auto exited = keeper.Await();
  ASSERT_TRUE(exited.ok());
  EXPECT_EQ(exited.value().type, wire::Type::kExited);
  EXPECT_EQ(exited.value().exited.signal, SIGKILL);
  EXPECT_FALSE(IsRunning(shell));
  keeper.EndSession();
  keeper.EndSession();
  EXPECT_FALSE(keeper.SendSignal(SIGTERM));
  auto done = keeper.Await();
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done.value().type, wire::Type::kDone);
  auto end = keeper.Await();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().err, ECONNRESET);
  EXPECT_TRUE(Eventually([&] { return keeper.TryReap(); }));
  EXPECT_FALSE(keeper.SendSignal(SIGTERM));
}

TEST(KeeperProcess, TellsThatTheKeeperWentBeforeThePlan) {
  TempDir dir;
  auto keeper = KeeperProcess::Start(dir.Write("keeper", "#!/bin/sh\nexit 0\n", 0755));
  ASSERT_TRUE(keeper.ok());
  ASSERT_TRUE(WaitForDeath(ChildrenOf(getpid()).back()));
  TestTerminal terminal;
  auto encoded = EncodePlan(ShellPlan("exit 0"));
  const Fd slave = terminal.TakeSlave();
  const int fds[] = {slave.get()};
  auto sent = keeper.value().SendPlan(encoded.value(), fds);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().stage, Stage::kKeeper);
  EXPECT_EQ(ErrnoName(sent.error().err), "EPIPE");
}

TEST(KeeperProcess, EndsTheSessionOfAKeeperThatNobodyTookOver) {
  TestTerminal terminal;
  pid_t shell;
  {
    KeeperProcess keeper = Start();
    shell = RunPlan(keeper, ShellPlan("trap '' HUP TERM; echo ready; while :; do sleep 1000; done"),
                    terminal.TakeSlave());
    terminal.ReadUntil("ready\n");
    KeeperProcess moved(std::move(keeper));
    EXPECT_TRUE(IsRunning(shell));
  }
  EXPECT_FALSE(IsRunning(shell));
}

}  // namespace
}  // namespace spty
