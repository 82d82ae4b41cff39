// The code between fork and exec: what a program finds when it starts.
#include "keeper/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "support/keeper_host.h"
#include "support/temp_dir.h"
#include "support/terminal.h"

namespace spty {
namespace {

Plan DescribePlan() { return ProgramPlan({std::string(SPTY_PROBE_DIR) + "/describe_self"}); }

std::map<std::string, std::string> Describe(const Plan& plan, std::string* terminal_name = nullptr) {
  TestTerminal terminal;
  if (terminal_name != nullptr) *terminal_name = terminal.name();
  KeeperHost host;
  host.Start(plan, terminal.slave());
  std::istringstream lines(terminal.ReadUntil("done\n"));
  std::map<std::string, std::string> found;
  for (std::string line; std::getline(lines, line);) {
    size_t equals = line.find('=');
    if (equals != std::string::npos) found[line.substr(0, equals)] = line.substr(equals + 1);
  }
  EXPECT_EQ(host.Expect(wire::Type::kExited).exited.code, 0);
  return found;
}

// How a plan with these candidates ends: "ran CODE" or the name of the error.
std::string Outcome(const std::vector<std::string>& candidates, uint32_t* about = nullptr) {
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("");
  plan.candidates = candidates;
  plan.argv = {"given-name", "first", "second"};
  host.SendPlan(plan, terminal.slave());
  std::optional<Frame> verdict = host.Next();
  if (!verdict) return "closed";
  if (verdict->type == wire::Type::kFailed) {
    EXPECT_EQ(verdict->failed.stage, Stage::kExec);
    if (about != nullptr) *about = verdict->failed.candidate;
    return ErrnoName(verdict->failed.err);
  }
  return "ran " + std::to_string(host.Expect(wire::Type::kExited).exited.code);
}

TEST(BecomeShell, LeavesOnlyStdioOpen) { EXPECT_EQ(Describe(DescribePlan())["descriptors"], "0,1,2,"); }

TEST(BecomeShell, IsTheLeaderOfItsSessionAndTerminal) {
  std::string name;
  auto found = Describe(DescribePlan(), &name);
  EXPECT_EQ(found["leader"], "1");
  EXPECT_EQ(found["controlling"], "1");
  EXPECT_EQ(found["terminal"], name);
  EXPECT_EQ(found["size"], "80x24");
}

TEST(BecomeShell, RestoresTheSignalMaskOfThePlan) {
  Plan plan = DescribePlan();
  EXPECT_EQ(Describe(plan)["blocked"], "");
  plan.signal_mask =
      (uint64_t{1} << (SIGUSR1 - 1)) | (uint64_t{1} << (SIGTERM - 1)) | (uint64_t{1} << (NSIG - 2));
  std::string expected;
  for (int number : std::set<int>{SIGUSR1, SIGTERM, NSIG - 1}) expected += std::to_string(number) + ",";
  EXPECT_EQ(Describe(plan)["blocked"], expected);
}

TEST(BecomeShell, HasEverySignalAtItsDefault) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before[2];
  sigaction(SIGPIPE, &ignore, &before[0]);
  sigaction(SIGQUIT, &ignore, &before[1]);
  auto found = Describe(DescribePlan());
  sigaction(SIGPIPE, &before[0], nullptr);
  sigaction(SIGQUIT, &before[1], nullptr);
  ASSERT_TRUE(found.contains("not-default"));
  EXPECT_EQ(found["not-default"], "");
}

// A profile that cannot be entered must never be passed over. (On macOS this one is no profile.)
TEST(BecomeShell, StartsNothingWithoutTheProfileThatThePlanAsksFor) {
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("exit 0");
  plan.profile = "nonsense";
  host.SendPlan(plan, terminal.slave());
  const std::optional<Frame> verdict = host.Next();
  ASSERT_TRUE(verdict);
  ASSERT_EQ(verdict->type, wire::Type::kFailed);
  EXPECT_STREQ(StageName(verdict->failed.stage), "seatbelt");
  EXPECT_NE(verdict->failed.err, 0);
}

TEST(BecomeShell, FindsTheMarkOfItsSession) {
  const TempDir place;
  const std::string mark = place.File("mark");
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("test -d " + mark + "/allow -a ! -e " + mark + "/deny");
  plan.mark = mark;
  host.Start(plan, terminal.slave());
  EXPECT_EQ(host.Expect(wire::Type::kExited).exited.code, 0);
  EXPECT_TRUE(std::filesystem::exists(mark));
  shutdown(host.control(), SHUT_WR);
  EXPECT_EQ(host.Expect(wire::Type::kDone).done.clean_err, 0);
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST(BecomeShell, TakesNoMarkThatIsThereAlready) {
  const TempDir place;
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("exit 0");
  plan.mark = place.path();
  host.SendPlan(plan, terminal.slave());
  const std::optional<Frame> verdict = host.Next();
  ASSERT_TRUE(verdict);
  ASSERT_EQ(verdict->type, wire::Type::kFailed);
  EXPECT_STREQ(StageName(verdict->failed.stage), "mark");
  EXPECT_EQ(verdict->failed.err, EEXIST);
  EXPECT_TRUE(std::filesystem::exists(place.path()));
}

TEST(BecomeShell, PassesArgumentsAndEnvironmentUnchanged) {
  Plan plan = DescribePlan();
  plan.argv = {"-odd name", "", "two words", "\xc3\xa4"};
  plan.env = {"A=1", "NOEQUALS", "EMPTY=", "A=2"};
  auto found = Describe(plan);
  EXPECT_EQ(found["argv0"], "-odd name");
  EXPECT_EQ(found["argv1"], "");
  EXPECT_EQ(found["argv2"], "two words");
  EXPECT_EQ(found["argv3"], "\xc3\xa4");
  EXPECT_FALSE(found.contains("argv4"));
  EXPECT_EQ(found["env0"], "A=1");
  EXPECT_EQ(found["env1"], "NOEQUALS");
  EXPECT_EQ(found["env2"], "EMPTY=");
  EXPECT_EQ(found["env3"], "A=2");
  EXPECT_FALSE(found.contains("env4"));
}

TEST(BecomeShell, StartsInItsDirectory) {
  TempDir dir;
  Plan plan = DescribePlan();
  plan.cwd = dir.path();
  EXPECT_EQ(Describe(plan)["cwd"], std::filesystem::canonical(dir.path()).string());
}

TEST(BecomeShell, ResolvesARelativeProgramInItsDirectory) {
  TempDir dir;
  dir.Write("here", "#!/bin/sh\nexit 21\n", 0755);
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("");
  plan.cwd = dir.path();
  plan.candidates = {"./here"};
  host.Start(plan, terminal.slave());
  EXPECT_EQ(host.Expect(wire::Type::kExited).exited.code, 21);
}

TEST(BecomeShell, KeepsTheHostsIdentityUnlessToldOtherwise) {
  auto found = Describe(DescribePlan());
  std::string uid = std::to_string(getuid());
  EXPECT_EQ(found["uids"], uid + "," + uid);
}

TEST(BecomeShell, SetsGroupsGidAndUid) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Plan plan = DescribePlan();
  plan.set_ids = true;
  plan.identity = Identity{4242, 4343, true, {4343, 4444}};
  auto found = Describe(plan);
  EXPECT_EQ(found["uids"], "4242,4242");
  EXPECT_EQ(found["gids"], "4343,4343");
  EXPECT_EQ(found["regains-uid-0"], "0");
  EXPECT_EQ(found["regains-gid-0"], "0");
  EXPECT_EQ(Describe(DescribePlan())["regains-uid-0"], "1") << "without the plan's ids";
  EXPECT_EQ(found["groups"], "4343,4444,");
  plan.identity.groups.clear();
  EXPECT_EQ(Describe(plan)["groups"], "");
}

TEST(BecomeShell, LeavesTheGroupsAloneIfAskedTo) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Plan plan = DescribePlan();
  std::string before = Describe(plan)["groups"];
  plan.set_ids = true;
  plan.identity = Identity{4242, 4343, false, {}};
  EXPECT_EQ(Describe(plan)["groups"], before);
}

TEST(Candidates, FirstThatRunsWins) {
  TempDir dir;
  std::string first = dir.Write("first", "#!/bin/sh\nexit 11\n", 0755);
  std::string second = dir.Write("second", "#!/bin/sh\nexit 12\n", 0755);
  EXPECT_EQ(Outcome({first, second}), "ran 11");
  EXPECT_EQ(Outcome({dir.File("missing"), second}), "ran 12");
  EXPECT_EQ(Outcome({dir.File("first/below-a-file"), second}), "ran 12");
}

TEST(Candidates, PermissionDeniedIsRememberedButNotTheEnd) {
  TempDir dir;
  std::string denied = dir.Write("denied", "#!/bin/sh\nexit 11\n", 0644);
  std::string good = dir.Write("good", "#!/bin/sh\nexit 12\n", 0755);
  std::string missing = dir.File("missing");
  EXPECT_EQ(Outcome({missing, denied, good}), "ran 12");
  uint32_t about = 99;
  EXPECT_EQ(Outcome({missing, denied, missing}, &about), "EACCES");
  EXPECT_EQ(about, 1U);
  EXPECT_EQ(Outcome({missing, missing}, &about), "ENOENT");
  EXPECT_EQ(Outcome({dir.path()}), "EACCES");
}

TEST(Candidates, AnyOtherErrorIsTheEnd) {
  TempDir dir;
  std::string good = dir.Write("good", "#!/bin/sh\nexit 12\n", 0755);
  std::filesystem::create_symlink("loop", dir.File("loop"));
  uint32_t about = 99;
  EXPECT_EQ(Outcome({dir.File("missing"), dir.File("loop"), good}, &about), "ELOOP");
  EXPECT_EQ(about, 1U);
  EXPECT_EQ(Outcome({good}), "ran 12");
}

TEST(Candidates, APathThatIsTooLongIsJustNotHere) {
  TempDir dir;
  std::string good = dir.Write("good", "#!/bin/sh\nexit 12\n", 0755);
  std::string too_long = dir.File(std::string(300, 'n'));
  EXPECT_EQ(Outcome({too_long, good}), "ran 12");
  EXPECT_EQ(Outcome({too_long}), "ENAMETOOLONG");
}

TEST(Candidates, AScriptWithoutAFirstLineIsRunByTheShell) {
  TempDir dir;
  // 17 only if it got its own path as $0 and the arguments after argv[0].
  std::string script = dir.Write(
      "script", "[ \"$0 $1 $2 $#\" = \"" + dir.File("script") + " first second 2\" ] && exit 17\nexit 1\n",
      0755);
  EXPECT_EQ(Outcome({script}), "ran 17");
  EXPECT_EQ(Outcome({dir.File("missing"), script}), "ran 17");
}

TEST(Candidates, AnUnusableInterpreterIsTheScriptsError) {
  TempDir dir;
  std::string script = dir.Write("script", "#!/nonexistent/interpreter\n", 0755);
  EXPECT_EQ(Outcome({script}), "ENOENT");
}

}  // namespace
}  // namespace spty
