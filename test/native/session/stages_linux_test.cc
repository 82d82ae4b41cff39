// One test per stage: that step fails, its name and errno reach the caller of Spawn, and nothing is left.
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "session/prepared_keeper.h"
#include "support/faulty_keeper_linux.h"
#include "support/live_session.h"
#include "support/processes_linux.h"

namespace spty {
namespace {

void ExpectFailure(const SpawnRequest& request, Stage stage, int err, const std::string& subject = "") {
  auto pump = AcquirePump();
  Footprint before = Footprint::AtRest();
  Listener listener;
  auto session = Session::Spawn(request, *pump, &listener);
  ASSERT_FALSE(session.ok()) << "nothing failed at " << StageName(stage);
  EXPECT_STREQ(StageName(session.error().stage), StageName(stage)) << Describe(session.error());
  EXPECT_EQ(ErrnoName(session.error().err), ErrnoName(err)) << Describe(session.error());
  EXPECT_EQ(session.error().subject, subject);
  EXPECT_EQ(Footprint::Settled(before), before);
  EXPECT_EQ(listener.calls(), 0U);
}

void ExpectFault(const std::vector<Fault>& faults, Stage stage, int err,
                 SpawnRequest request = ShellRequest("exit 0"), const std::string& subject = "") {
  FaultyKeeper keeper(faults);
  request.keeper_path = keeper.path();
  ExpectFailure(request, stage, err, subject);
}

SpawnRequest WithOwnIds() {
  SpawnRequest request = ShellRequest("exit 0");
  request.ids = SpawnRequest::Ids{getuid(), getgid()};
  return request;
}

// The wrapped keeper works as long as nothing is made to fail; otherwise every test here would say nothing.
TEST(Stage, NoneFailsWithoutAFault) {
  FaultyKeeper keeper({Fault{SYS_rt_sigprocmask, EIO, 0, 12345, true}, Fault{SYS_chdir, EIO, 0, 12345}});
  SpawnRequest request = WithOwnIds();
  request.keeper_path = keeper.path();
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_EQ(session.ReadToEnd().code, 0);
}

TEST(Stage, KeeperThatIsMissing) {
  SpawnRequest request = ShellRequest("exit 0");
  request.keeper_path = "/nonexistent/keeper";
  ExpectFailure(request, Stage::kKeeper, ENOENT, "/nonexistent/keeper");
}

TEST(Stage, KeeperThatIsNotExecutable) {
  TempDir dir;
  SpawnRequest request = ShellRequest("exit 0");
  request.keeper_path = dir.Write("keeper", "no program", 0644);
  ExpectFailure(request, Stage::kKeeper, EACCES, request.keeper_path);
}

TEST(Stage, KeeperThatSpeaksAnotherLanguage) {
  TempDir dir;
  SpawnRequest request = ShellRequest("exit 0");
  request.keeper_path =
      dir.Write("keeper", "#!/bin/sh\necho this is not a frame at all >&3\ncat <&3\n", 0755);
  ExpectFailure(request, Stage::kKeeper, EPROTO, "the keeper beside the addon speaks another version");
}

TEST(Stage, KeeperThatEndsWithoutAnAnswer) {
  TempDir dir;
  SpawnRequest request = ShellRequest("exit 0");
  request.keeper_path = dir.Write("keeper", "#!/bin/sh\nhead -c 100 <&3 >/dev/null\n", 0755);
  ExpectFailure(request, Stage::kKeeper, ECONNRESET, "the keeper ended unexpectedly");
}

TEST(Stage, KeeperWithoutPipes) { ExpectFault({{SYS_pipe2, EMFILE}}, Stage::kKeeper, EMFILE); }

TEST(Stage, KeeperWithoutSignalHandler) { ExpectFault({{SYS_rt_sigaction, EPERM}}, Stage::kKeeper, EPERM); }

TEST(Stage, PlanThatDoesNotArrive) { ExpectFault({{SYS_recvmsg, EIO}}, Stage::kPlan, EIO); }

TEST(Stage, PlanWithANulByte) {
  ExpectFailure(ShellRequest(std::string("a\0b", 3)), Stage::kPlan, EINVAL, "a string with a NUL byte");
}

TEST(Stage, PlanThatIsTooLarge) {
  SpawnRequest request = ShellRequest("exit 0");
  request.env.assign(20, std::string(1'000'000, 'x'));
  ExpectFailure(request, Stage::kPlan, E2BIG);
}

TEST(Stage, KeepersDescriptors) { ExpectFault({{SYS_close_range, EIO, 2, 0}}, Stage::kDescriptors, EIO); }

TEST(Stage, Subreaper) {
  ExpectFault({{SYS_prctl, EPERM, 0, PR_SET_CHILD_SUBREAPER}}, Stage::kSubreaper, EPERM);
}

TEST(Stage, Fork) {
  std::vector<Fault> faults = {{SYS_clone, EAGAIN}, {SYS_clone3, EAGAIN}};
#ifdef SYS_fork
  faults.push_back({SYS_fork, EAGAIN});
#endif
  ExpectFault(faults, Stage::kFork, EAGAIN);
}

// A kernel that cannot start a process in a cgroup: it has to join, and that is refused.
TEST(Stage, Cgroup) {
  if (const auto place = CgroupPlace::Own(); !place.ok())
    GTEST_SKIP() << "needs a writable cgroup: " << Describe(place.error());
  ExpectFault({{SYS_clone3, ENOSYS}, {SYS_write, EBUSY, 2, 1, true}}, Stage::kCgroup, EBUSY);
}

TEST(Stage, CgroupThatHasToBeJoined) {
  if (const auto place = CgroupPlace::Own(); !place.ok())
    GTEST_SKIP() << "needs a writable cgroup: " << Describe(place.error());
  FaultyKeeper keeper({{SYS_clone3, ENOSYS}});
  SpawnRequest request = ShellRequest("read line");
  request.keeper_path = keeper.path();
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_EQ(session->no_cgroup(), "");
}

TEST(Stage, Temp) {
  TempDir dir;
  auto pump = AcquirePump();
  Footprint before = Footprint::AtRest();
  {
    auto keeper = PrepareKeeper(SPTY_KEEPER_PATH, dir.File("missing/prefix-"));
    ASSERT_FALSE(keeper.ok());
    EXPECT_STREQ(StageName(keeper.error().stage), StageName(Stage::kTemp));
    EXPECT_EQ(ErrnoName(keeper.error().err), "ENOENT");
    EXPECT_TRUE(keeper.error().subject.starts_with(dir.File("missing/prefix-")));
  }
  EXPECT_EQ(Footprint::Settled(before), before);
  // The same with a place for it: it is made, and it goes with a keeper that never got a plan.
  {
    auto keeper = PrepareKeeper(SPTY_KEEPER_PATH, dir.File("prefix-"));
    ASSERT_TRUE(keeper.ok()) << Describe(keeper.error());
    EXPECT_TRUE(std::filesystem::is_directory(keeper.value().temp_dir));
  }
  EXPECT_EQ(Footprint::Settled(before), before);
  EXPECT_TRUE(Eventually([&] { return std::filesystem::is_empty(dir.path()); }));
}

TEST(Stage, Session) { ExpectFault({{SYS_setsid, EPERM}}, Stage::kSession, EPERM); }

TEST(Stage, Terminal) { ExpectFault({{SYS_ioctl, EIO, 1, TIOCSCTTY}}, Stage::kTerminal, EIO); }

TEST(Stage, Stdio) {
  for (uint32_t target = 0; target <= 2; ++target) {
    std::vector<Fault> faults = {{SYS_dup3, EIO, 1, target}};
#ifdef SYS_dup2
    faults.push_back({SYS_dup2, EIO, 1, target});
#endif
    ExpectFault(faults, Stage::kStdio, EIO);
  }
}

TEST(Stage, CwdThatIsMissing) {
  SpawnRequest request = ShellRequest("exit 0");
  request.cwd = "/nonexistent/directory";
  ExpectFailure(request, Stage::kCwd, ENOENT, request.cwd);
}

TEST(Stage, CwdThatIsAFile) {
  SpawnRequest request = ShellRequest("exit 0");
  request.cwd = "/bin/sh";
  ExpectFailure(request, Stage::kCwd, ENOTDIR, request.cwd);
}

TEST(Stage, Cwd) { ExpectFault({{SYS_chdir, EIO}}, Stage::kCwd, EIO, ShellRequest("exit 0"), "/"); }

TEST(Stage, Groups) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ExpectFault({{SYS_setgroups, EPERM}}, Stage::kGroups, EPERM, WithOwnIds());
}

TEST(Stage, Gid) { ExpectFault({{SYS_setgid, EAGAIN}}, Stage::kGid, EAGAIN, WithOwnIds()); }

TEST(Stage, Uid) { ExpectFault({{SYS_setuid, EAGAIN}}, Stage::kUid, EAGAIN, WithOwnIds()); }

TEST(Stage, GidThatOnlyRootMayTake) {
  if (geteuid() == 0) GTEST_SKIP() << "needs an unprivileged user";
  SpawnRequest request = ShellRequest("exit 0");
  request.ids = SpawnRequest::Ids{getuid(), 0};
  ExpectFailure(request, Stage::kGid, EPERM);
  // Somebody else's session must not have our groups, and only root may give them up.
  request.ids = SpawnRequest::Ids{0, getgid()};
  ExpectFailure(request, Stage::kGroups, EPERM);
}

TEST(Stage, Descriptors) { ExpectFault({{SYS_close_range, EIO, 2, 4}}, Stage::kDescriptors, EIO); }

TEST(Stage, Signals) { ExpectFault({{SYS_rt_sigprocmask, EINVAL, -1, 0, true}}, Stage::kSignals, EINVAL); }

TEST(Stage, ExecOfAMissingProgram) {
  SpawnRequest request = ShellRequest("exit 0");
  request.file = "no-such-program";
  ExpectFailure(request, Stage::kExec, ENOENT, "no-such-program");
}

TEST(Stage, ExecOfADirectory) {
  SpawnRequest request = ShellRequest("exit 0");
  request.file = "/tmp";
  ExpectFailure(request, Stage::kExec, EACCES, "/tmp");
}

TEST(Stage, ExecWithTooLargeAnArgument) {
  SpawnRequest request = ShellRequest(std::string(300'000, ' '));
  ExpectFailure(request, Stage::kExec, E2BIG, "/bin/sh");
}

// Without close_range (older kernels, stricter containers) the slow way does the same.
TEST(Stage, DescriptorsWorkWithoutTheKernelsHelp) {
  FaultyKeeper keeper({{SYS_close_range, ENOSYS}});
  SpawnRequest request = ShellRequest("");
  request.file = std::string(SPTY_PROBE_DIR) + "/describe_self";
  request.keeper_path = keeper.path();
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_NE(session.ReadUntil("done\n").find("descriptors=0,1,2,\n"), std::string::npos);
}

// It has said that nobody is left, and dies of the first file that it removes: the host goes on with that.
TEST(Stage, OfCleaningUpInWhichTheKeeperIsKilled) {
  FaultyKeeper keeper({{SYS_unlinkat, 0}});
  TempDir dir;
  std::filesystem::create_directory(dir.File("private"));
  dir.Write("private/file", "x", 0644);
  SpawnRequest request = ShellRequest("echo ready; read x");
  request.keeper_path = keeper.path();
  request.temp_dir = dir.File("private");
  request.use_cgroup = false;
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  session.ReadUntil("ready\n");
  const pid_t shell = session.pid();
  session->EndNow();
  EXPECT_TRUE(Eventually([&] { return session->ProveEmpty() == Session::Proof::kEmpty; }));
  EXPECT_TRUE(session->emptied().has_value());
  EXPECT_FALSE(session->done().has_value());
  EXPECT_FALSE(IsRunning(shell));
  EXPECT_FALSE(std::filesystem::exists(dir.File("private")));
}

}  // namespace
}  // namespace spty
