// The stages that happen in the host: each fails once, and nothing is left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "session/prepared_keeper.h"
#include "support/faulty_keeper_linux.h"
#include "support/in_child.h"
#include "support/limits.h"
#include "support/live_session.h"
#include "support/processes_linux.h"

namespace spty {
namespace {

// Every number of free descriptors up to the one that suffices.
TEST(Stage, DescriptorsOfTheHostRunOut) {
  auto pump = AcquirePump();
  Listener listener;
  std::string stages;
  for (int spare = 0; spare < 20; ++spare) {
    Footprint before = Footprint::AtRest();
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
    EXPECT_EQ(Footprint::Settled(before), before);
    stages += std::string(StageName(error.stage)) + " ";
  }
  // A session that could have a cgroup does not do without because of a shortage.
  const std::string cgroup = CgroupPlace::Own().ok() ? "cgroup cgroup cgroup " : "";
  const std::string host = "pty pty keeper keeper " + cgroup;
  ASSERT_TRUE(stages.starts_with(host)) << stages;
  // The keeper has the host's limit, and may need more than one that has hardly anything open.
  std::string rest = stages.substr(host.size());
  while (rest.starts_with("keeper ")) rest.erase(0, sizeof "keeper " - 1);
  EXPECT_EQ(rest, "");
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
    Footprint before = Footprint::AtRest();
    for (const Fault& fault : faults) CHILD_CHECK(FailHere(fault));
    auto session = Session::Spawn(ShellRequest("exit 0"), *pump.value(), &listener);
    CHILD_CHECK(!session.ok());
    std::string got = std::string(StageName(session.error().stage)) + " " + ErrnoName(session.error().err);
    if (got != std::string(StageName(stage)) + " " + ErrnoName(err)) return Describe(session.error());
    CHILD_CHECK(Footprint::Settled(before) == before);
    return "";
  });
}

// Nobody asked for a limit, so that there is no reason to refuse the session: it says what it has to do
// without.
std::string HostWithoutCgroup(const Fault& fault) {
  return InChild([=]() -> std::string {
    auto pump = Pump::Acquire();
    CHILD_CHECK(pump.ok());
    Footprint before = Footprint::AtRest();
    CHILD_CHECK(FailHere(fault));
    {
      LiveSession session(ShellRequest("exit 3"));
      CHILD_CHECK(session.ok());
      if (session->no_cgroup().find(strerror(fault.err)) == std::string::npos)
        return "in place of " + ErrnoName(fault.err) + ": " + session->no_cgroup();
      CHILD_CHECK(session.ReadToEnd().code == 3);
    }
    CHILD_CHECK(Footprint::Settled(before) == before);
    return "";
  });
}

TEST(Stage, CgroupThatCannotBeMade) {
  if (const auto place = CgroupPlace::Own(); !place.ok())
    GTEST_SKIP() << "needs a writable cgroup: " << Describe(place.error());
  EXPECT_EQ(HostWithoutCgroup({SYS_mkdirat, ENOSPC, 2, 0755}), "");
}

TEST(Stage, CgroupThatCannotBeOpened) {
  if (const auto place = CgroupPlace::Own(); !place.ok())
    GTEST_SKIP() << "needs a writable cgroup: " << Describe(place.error());
  EXPECT_EQ(HostWithoutCgroup({SYS_openat, EACCES, 2, O_RDWR | O_CLOEXEC}), "");
}

TEST(Stage, TempThatDoesNotFit) {
  TempDir dir;
  EXPECT_EQ(InChild([&]() -> std::string {
              Footprint before = Footprint::AtRest();
              CHILD_CHECK(FailHere({SYS_mkdirat, ENOSPC, 2, 0700}));
#ifdef SYS_mkdir
              CHILD_CHECK(FailHere({SYS_mkdir, ENOSPC}));
#endif
              {
                auto keeper = PrepareKeeper(SPTY_KEEPER_PATH, dir.File("prefix-"));
                CHILD_CHECK(!keeper.ok());
                CHILD_CHECK(keeper.error().stage == Stage::kTemp && keeper.error().err == ENOSPC);
              }
              CHILD_CHECK(Footprint::Settled(before) == before);
              return "";
            }),
            "");
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
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

TEST(Stage, WindowSize) { EXPECT_EQ(HostFailure({{SYS_ioctl, EIO, 1, TIOCSWINSZ}}, Stage::kPty, EIO), ""); }

TEST(Stage, Pump) {
  EXPECT_EQ(HostFailure({{SYS_epoll_ctl, ENOSPC, 1, EPOLL_CTL_ADD}}, Stage::kPump, ENOSPC), "");
}

}  // namespace
}  // namespace spty
