// One test per stage: that step fails, its name and errno reach the caller of Spawn, and nothing is left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "support/faulty_keeper_linux.h"
#include "support/in_child.h"
#include "support/limits.h"
#include "support/live_session.h"
#include "support/processes_linux.h"

namespace spty {
namespace {

void ExpectFailure(const SpawnRequest& request, Stage stage, int err, const std::string& subject = "") {
  auto pump = AcquirePump();
  Footprint before = Footprint::Now();
  Listener listener;
  auto session = Session::Spawn(request, *pump, &listener);
  ASSERT_FALSE(session.ok()) << "nothing failed at " << StageName(stage);
  EXPECT_STREQ(StageName(session.error().stage), StageName(stage)) << Describe(session.error());
  EXPECT_EQ(ErrnoName(session.error().err), ErrnoName(err)) << Describe(session.error());
  EXPECT_EQ(session.error().subject, subject);
  EXPECT_EQ(Footprint::Now(), before);
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
  request.ids = SpawnRequest::Ids{0, getgid()};
  ExpectFailure(request, Stage::kUid, EPERM);
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
  request.file = std::string(SPTY_PROBE_DIR) + "/describe_self_linux";
  request.keeper_path = keeper.path();
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_NE(session.ReadUntil("done\n").find("descriptors=0,1,2,\n"), std::string::npos);
}

// Every number of free descriptors up to the one that suffices.
TEST(Stage, DescriptorsOfTheHostRunOut) {
  auto pump = AcquirePump();
  Listener listener;
  std::string stages;
  for (int spare = 0; spare < 20; ++spare) {
    Footprint before = Footprint::Now();
    Error error;
    bool started = false;
    {
      DescriptorLimit limit(spare);
      auto session = Session::Spawn(ShellRequest("exit 0"), *pump, &listener);
      started = session.ok();
      if (started) session.value()->Release();
      if (!started) error = session.error();
    }
    if (started) break;
    EXPECT_EQ(ErrnoName(error.err), "EMFILE") << Describe(error);
    EXPECT_EQ(Footprint::Now(), before);
    stages += std::string(StageName(error.stage)) + " ";
  }
  EXPECT_EQ(stages, "pty pty keeper keeper ");
}

// Makes one call fail in this thread, if its argument has this value: the pump's thread is not affected.
bool FailHere(const Fault& fault) {
  const bool any = fault.argument == -1;
  const size_t offset = offsetof(seccomp_data, args) + 8 * static_cast<size_t>(any ? 0 : fault.argument);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(fault.call), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fault.value, 0, static_cast<uint8_t>(any ? 0 : 1)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(fault.err)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{6, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

std::string HostFailure(const std::vector<Fault>& faults, Stage stage, int err) {
  return InChild([=]() -> std::string {
    auto pump = Pump::Acquire();
    CHILD_CHECK(pump.ok());
    Listener listener;
    Footprint before = Footprint::Now();
    for (const Fault& fault : faults) CHILD_CHECK(FailHere(fault));
    auto session = Session::Spawn(ShellRequest("exit 0"), *pump.value(), &listener);
    CHILD_CHECK(!session.ok());
    std::string got = std::string(StageName(session.error().stage)) + " " + ErrnoName(session.error().err);
    if (got != std::string(StageName(stage)) + " " + ErrnoName(err)) return Describe(session.error());
    CHILD_CHECK(Footprint::Now() == before);
    return "";
  });
}

TEST(Stage, ProcessesRunOut) {
  std::vector<Fault> faults = {{SYS_clone3, EAGAIN}, {SYS_clone, EAGAIN}};
#ifdef SYS_vfork
  faults.push_back({SYS_vfork, EAGAIN});
#endif
  EXPECT_EQ(HostFailure(faults, Stage::kKeeper, EAGAIN), "");
}

TEST(Stage, SocketOfTheHost) {
  EXPECT_EQ(HostFailure({{SYS_socketpair, ENFILE}}, Stage::kKeeper, ENFILE), "");
}

TEST(Stage, TerminalsRunOut) {
  constexpr uint32_t kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;
  EXPECT_EQ(HostFailure({{SYS_openat, ENOSPC, 2, kFlags}}, Stage::kPty, ENOSPC), "");
}

TEST(Stage, UnlockingTheTerminal) {
  EXPECT_EQ(HostFailure({{SYS_ioctl, EIO, 1, TIOCSPTLCK}}, Stage::kPty, EIO), "");
}

TEST(Stage, NumberOfTheTerminal) {
  EXPECT_EQ(HostFailure({{SYS_ioctl, EIO, 1, TIOCGPTN}}, Stage::kPty, EIO), "");
}

TEST(Stage, SlaveOfTheTerminal) {
  EXPECT_EQ(HostFailure({{SYS_ioctl, EIO, 1, TIOCGPTPEER}}, Stage::kPty, EIO), "");
}

TEST(Stage, LineSettings) { EXPECT_EQ(HostFailure({{SYS_ioctl, EIO, 1, TCSETS}}, Stage::kPty, EIO), ""); }

TEST(Stage, WindowSize) {
  EXPECT_EQ(HostFailure({{SYS_ioctl, EIO, 1, TIOCSWINSZ}}, Stage::kResize, EIO), "");
}

TEST(Stage, Pump) {
  EXPECT_EQ(HostFailure({{SYS_epoll_ctl, ENOSPC, 1, EPOLL_CTL_ADD}}, Stage::kPump, ENOSPC), "");
}

}  // namespace
}  // namespace spty
