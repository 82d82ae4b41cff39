// The keeper program: what it makes of what a host sends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "support/keeper_host.h"
#include "support/processes.h"
#include "support/terminal.h"

namespace spty {
namespace {

void ExpectRefusal(KeeperHost& host, Stage stage, int err) {
  Frame frame = host.Expect(wire::Type::kFailed);
  EXPECT_STREQ(StageName(frame.failed.stage), StageName(stage));
  EXPECT_EQ(ErrnoName(frame.failed.err), ErrnoName(err));
  EXPECT_FALSE(host.Next().has_value()) << "a refusal is the last word";
}

std::string Changed(std::string frame, const std::function<void(wire::Header*)>& change) {
  wire::Header header;
  memcpy(&header, frame.data(), sizeof header);
  change(&header);
  memcpy(frame.data(), &header, sizeof header);
  return frame;
}

TEST(Keeper, RefusesAMalformedHeader) {
  const std::string good = KeeperHost::PlanFrame(ShellPlan("exit 0"));
  const std::pair<const char*, std::function<void(wire::Header*)>> changes[] = {
      {"magic", [](wire::Header* header) { header->magic ^= 0x100; }},
      {"version below", [](wire::Header* header) { --header->version; }},
      {"version above", [](wire::Header* header) { ++header->version; }},
      {"type", [](wire::Header* header) { header->type = wire::Type::kSignal; }},
      {"no such type", [](wire::Header* header) { header->type = static_cast<wire::Type>(99); }},
      {"too short", [](wire::Header* header) { header->length = sizeof(wire::PlanFixed) - 1; }},
      {"empty", [](wire::Header* header) { header->length = 0; }},
      {"too long", [](wire::Header* header) { header->length = wire::kMaxPlanBytes + 1; }},
      {"one byte less", [](wire::Header* header) { --header->length; }},
      {"no descriptor announced", [](wire::Header* header) { header->fd_count = 0; }},
      {"two descriptors announced", [](wire::Header* header) { header->fd_count = 2; }},
  };
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    TestTerminal terminal;
    KeeperHost host;
    host.Send(Changed(good, change), {terminal.slave()});
    ExpectRefusal(host, Stage::kPlan, EPROTO);
    EXPECT_EQ(host.Wait(), 0);
  }
  TestTerminal terminal;
  KeeperHost host;
  host.Send(Changed(good, [](wire::Header*) {}), {terminal.slave()});
  host.Expect(wire::Type::kStarted);
}

TEST(Keeper, RefusesAPlanWithoutATerminal) {
  KeeperHost host;
  host.Send(KeeperHost::PlanFrame(ShellPlan("exit 0")));
  ExpectRefusal(host, Stage::kPlan, EPROTO);
}

TEST(Keeper, RefusesMoreThanOneDescriptor) {
  TestTerminal terminal;
  KeeperHost host;
  host.Send(KeeperHost::PlanFrame(ShellPlan("exit 0")), {terminal.slave(), terminal.slave()});
  ExpectRefusal(host, Stage::kPlan, EPROTO);
}

TEST(Keeper, RefusesAMalformedPlan) {
  TestTerminal terminal;
  KeeperHost host;
  std::string frame = KeeperHost::PlanFrame(ShellPlan("exit 0"));
  frame.back() = 'x';
  host.Send(frame, {terminal.slave()});
  ExpectRefusal(host, Stage::kPlan, EPROTO);
}

TEST(Keeper, WritesNothingToATerminalItRefuses) {
  TestTerminal terminal;
  {
    KeeperHost host;
    std::string frame = KeeperHost::PlanFrame(ShellPlan("exit 0"));
    frame.back() = 'x';
    host.Send(frame, {terminal.slave()});
    ExpectRefusal(host, Stage::kPlan, EPROTO);
  }
  terminal.CloseSlave();
  EXPECT_EQ(terminal.ReadToEnd(), "");
}

TEST(Keeper, EndsQuietlyWhenTheHostGoesBeforeThePlan) {
  KeeperHost host;
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
}

TEST(Keeper, EndsQuietlyWhenTheHostGoesInTheMiddleOfThePlan) {
  TestTerminal terminal;
  KeeperHost host;
  std::string frame = KeeperHost::PlanFrame(ShellPlan("exit 0"));
  host.Send(frame.substr(0, frame.size() / 2), {terminal.slave()});
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
}

TEST(Keeper, ReportsTheStartThenTheExitCode) {
  for (int code : {0, 1, 42, 255}) {
    TestTerminal terminal;
    KeeperHost host;
    host.SendPlan(ShellPlan("exit " + std::to_string(code)), terminal.slave());
    EXPECT_GT(host.Expect(wire::Type::kStarted).started.pid, 1);
    Frame exited = host.Expect(wire::Type::kExited);
    EXPECT_EQ(exited.exited.code, code);
    EXPECT_EQ(exited.exited.signal, 0);
  }
}

TEST(Keeper, ReportsTheSignalThatEndedTheShell) {
  for (int number : {SIGKILL, SIGTERM, SIGSEGV, SIGUSR2}) {
    TestTerminal terminal;
    KeeperHost host;
    host.Start(ShellPlan("kill -" + std::to_string(number) + " $$"), terminal.slave());
    Frame exited = host.Expect(wire::Type::kExited);
    EXPECT_EQ(exited.exited.code, 0);
    EXPECT_EQ(exited.exited.signal, number);
  }
}

// Whether the start is reported as such, or only what came of it.
TEST(Keeper, ReportsAFailedExecAndNoExit) {
  for (bool only_running : {true, false}) {
    TestTerminal terminal;
    KeeperHost host;
    Plan plan = ProgramPlan({"/nonexistent/program"});
    plan.started_means_running = only_running;
    host.SendPlan(plan, terminal.slave());
    if (!only_running) host.Expect(wire::Type::kStarted);
    Frame failed = host.Expect(wire::Type::kFailed);
    EXPECT_EQ(failed.failed.stage, Stage::kExec);
    EXPECT_EQ(failed.failed.err, ENOENT);
    host.Hang();
    EXPECT_EQ(host.Wait(), 0);
    terminal.CloseSlave();
    EXPECT_EQ(terminal.ReadToEnd(), "");
  }
}

TEST(Keeper, DeliversTheSignalsThatTheHostAsksFor) {
  TestTerminal terminal;
  KeeperHost host;
  host.Start(ShellPlan("trap 'echo got-hup' HUP; trap 'echo got-usr1; exit 3' USR1; echo ready; "
                       "while :; do read line || :; done"),
             terminal.slave());
  terminal.ReadUntil("ready\n");
  host.SendSignal(SIGHUP);
  terminal.Write("\n");
  terminal.ReadUntil("got-hup\n");
  host.SendSignal(SIGUSR1);
  terminal.Write("\n");
  terminal.ReadUntil("got-usr1\n");
  EXPECT_EQ(host.Expect(wire::Type::kExited).exited.code, 3);
}

TEST(Keeper, IgnoresASignalNumberThatTheKernelDoesNotKnow) {
  TestTerminal terminal;
  KeeperHost host;
  host.Start(ShellPlan("read line; exit 5"), terminal.slave());
  host.SendSignal(12345);
  terminal.Write("\n");
  EXPECT_EQ(host.Expect(wire::Type::kExited).exited.code, 5);
}

TEST(Keeper, StaysAndIgnoresSignalsAfterTheShellHasEnded) {
  TestTerminal terminal;
  KeeperHost host;
  pid_t shell = host.Start(ShellPlan("exit 0"), terminal.slave());
  host.Expect(wire::Type::kExited);
  EXPECT_FALSE(IsRunning(shell));
  host.SendSignal(SIGTERM);
  EXPECT_TRUE(IsRunning(host.pid()));
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
}

TEST(Keeper, TakesNonsenseAfterThePlanForAHostThatIsGone) {
  TestTerminal terminal;
  KeeperHost host;
  pid_t shell = host.Start(ShellPlan("echo ready; exec sleep 1000"), terminal.slave());
  terminal.ReadUntil("ready\n");
  host.Send("nonsense nonsense nonsense");
  EXPECT_EQ(host.Wait(), 0);
  EXPECT_FALSE(IsRunning(shell));
}

TEST(Keeper, AcceptsAnEnvironmentOfTwoMebibytes) {
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("echo ${#V7} ${#V19}; exit 0");
  for (int i = 0; i < 20; ++i) plan.env.push_back("V" + std::to_string(i) + "=" + std::string(100'000, 'v'));
  pid_t shell = host.Start(plan, terminal.slave());
  EXPECT_GT(shell, 0);
  EXPECT_EQ(terminal.ReadUntil("\n"), "100000 100000\n");
  EXPECT_EQ(host.Expect(wire::Type::kExited).exited.code, 0);
}

TEST(Keeper, ReportsAnEnvironmentThatIsTooLargeForTheKernel) {
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("exit 0");
  plan.env.push_back("V=" + std::string(size_t{1} << 20, 'v'));  // one string: 128 KiB at most
  host.SendPlan(plan, terminal.slave());
  Frame failed = host.Expect(wire::Type::kFailed);
  EXPECT_EQ(failed.failed.stage, Stage::kExec);
  EXPECT_EQ(ErrnoName(failed.failed.err), "E2BIG");
}

}  // namespace
}  // namespace spty
